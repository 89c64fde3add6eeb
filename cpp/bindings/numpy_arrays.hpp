// Arrays in and out through NumPy's C API: nanobind's own way takes longer than scoring a row does.
#pragma once
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <nanobind/nanobind.h>
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

namespace lhtree {

// A matrix of float64 or float32 as Python gave it: aligned, in native byte order, whole values apart. It is
// read in place and lives as long as the call.
struct GivenRows {
    PyArrayObject* array = nullptr;

    std::size_t size(int axis) const { return static_cast<std::size_t>(PyArray_DIM(array, axis)); }

    // False if X is anything else.
    bool take(PyObject* X) {
        if (!PyArray_Check(X)) return false;
        array = reinterpret_cast<PyArrayObject*>(X);
        const int type = PyArray_TYPE(array);
        return PyArray_NDIM(array) == 2 && (type == NPY_DOUBLE || type == NPY_FLOAT) &&
               PyArray_ISBEHAVED_RO(array) && has_whole_steps(0) && has_whole_steps(1);
    }

  private:
    bool has_whole_steps(int axis) const {
        return PyArray_DIM(array, axis) < 2 || PyArray_STRIDE(array, axis) % PyArray_ITEMSIZE(array) == 0;
    }
};

// A new array of float64, int64 or int32; its values are not set.
template <class Value, int n_axes>
struct NewArray {
    static constexpr bool is_float = std::is_same_v<Value, double>, is_long = sizeof(Value) == 8;
    static_assert(is_float || std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, std::int32_t>);
    nanobind::object array;

    NewArray() = default;
    explicit NewArray(const std::array<std::size_t, n_axes>& shape) {
        std::array<npy_intp, n_axes> sizes;
        std::copy(shape.begin(), shape.end(), sizes.begin());
        constexpr int type = is_float ? NPY_DOUBLE : is_long ? NPY_INT64 : NPY_INT32;
        array = nanobind::steal(PyArray_SimpleNew(n_axes, sizes.data(), type));
        if (!array.is_valid()) throw nanobind::python_error();
    }

    Value* values() const {
        return static_cast<Value*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
    }
};

}  // namespace lhtree

namespace nanobind::detail {

template <>
struct type_caster<lhtree::GivenRows> {
    NB_TYPE_CASTER(lhtree::GivenRows,
                   const_name("numpy.ndarray[dtype=float64, shape=(*, *), writable=False] | "
                              "numpy.ndarray[dtype=float32, shape=(*, *), writable=False]"))

    bool from_python(handle X, std::uint8_t, cleanup_list*) noexcept { return value.take(X.ptr()); }
};

template <class Number, int n_axes>
struct type_caster<lhtree::NewArray<Number, n_axes>> {
    using Array = lhtree::NewArray<Number, n_axes>;
    static constexpr bool is_matrix = n_axes == 2;
    NB_TYPE_CASTER(Array, const_name("numpy.ndarray[dtype=") + const_name<Array::is_float>("float", "int") +
                              const_name<Array::is_long>("64", "32") +
                              const_name<is_matrix>(", shape=(*, *)]", ", shape=(*)]"))

    static handle from_cpp(const Array& made, rv_policy, cleanup_list*) noexcept {
        return handle(made.array).inc_ref();
    }
};

}  // namespace nanobind::detail
