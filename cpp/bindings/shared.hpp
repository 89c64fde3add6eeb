// Helper functions of the bindings: arrays in and out, and the GIL released while the core works.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lhtree/grow/trees/forest.hpp"

namespace lhtree {

namespace nb = nanobind;

void bind_additive(nb::module_& m);
void bind_boosting(nb::module_& m);
void bind_growing(nb::module_& m);
void bind_scoring(nb::module_& m);

template <class T>
using Vector = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using AnyMatrix = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::device::cpu>;
template <class T>
using NewVector = nb::ndarray<T, nb::numpy, nb::ndim<1>>;
template <class T>
using NewMatrix = nb::ndarray<T, nb::numpy, nb::ndim<2>>;
template <class T>
using MaybeVector = std::optional<Vector<T>>;

// Returns a NumPy array that owns the vector; nothing is copied.
template <class T>
NewVector<T> give(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return NewVector<T>(owned->data(), {owned->size()}, owner);
}

// Returns the arrays of a forest, without optional ones that have their default.
inline nb::dict give_forest(Forest&& forest) {
    nb::dict arrays;
    each_array([&](auto info, const auto& get) {
        if (info.need != Need::option || !get(forest).empty())
            arrays[info.name] = give(std::move(get(forest)));
    });
    return arrays;
}

// Returns views of the arrays of trees in a dict.
inline ForestView view_arrays(const nb::dict& arrays) {
    ForestView forest;
    each_array([&](auto info, const auto& get) {
        if (!arrays.contains(info.name)) {
            if (info.need == Need::scoring)
                throw std::invalid_argument(std::string("arrays lacks ") + info.name);
            return;
        }
        using Value = std::remove_const_t<std::remove_pointer_t<decltype(get(forest).data())>>;
        Vector<Value> array;
        if (!nb::try_cast(arrays[info.name], array, false))
            throw std::invalid_argument(std::string(info.name) +
                                        " is not an array of its exact type with one axis");
        get(forest) = {array.data(), array.size()};
    });
    return forest;
}

template <class Value>
Strided<Value> strided(const AnyMatrix<Value>& x) {
    return {x.data(), x.shape(0), x.shape(1), static_cast<std::ptrdiff_t>(x.stride(0)),
            static_cast<std::ptrdiff_t>(x.stride(1))};
}

template <class T>
std::vector<T> copy(const Vector<T>& values) {
    return {values.data(), values.data() + values.size()};
}

template <class Array>
auto data_or_null(const std::optional<Array>& values) -> decltype(values->data()) {
    return values ? values->data() : nullptr;
}

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

using Coded = std::optional<Matrix<std::int32_t>>;
using LevelCounts = std::optional<Vector<std::int32_t>>;

// Returns the number of levels of every categorical column.
inline std::vector<std::int32_t> find_coded(const std::vector<std::int32_t>& n_levels) {
    std::vector<std::int32_t> coded;
    for (const std::int32_t n : n_levels) {
        require(n >= 0, "a number of levels is below 0");
        if (n > 0) coded.push_back(n);
    }
    return coded;
}

inline void check_codes(const Matrix<std::int32_t>& codes, const std::vector<std::int32_t>& coded) {
    for (std::size_t i = 0; i < codes.size(); ++i)
        require(codes.data()[i] < coded[i % coded.size()], "a code is out of range");
}

// Returns the number of levels of every column, 0 for numbers. X has the columns of numbers, `codes` the
// others. The result is empty if there are no codes.
inline std::vector<std::int32_t> take_levels(std::size_t n_rows, std::size_t n_numbers, const Coded& codes,
                                             const LevelCounts& counts) {
    require(codes.has_value() == counts.has_value(), "codes and levels are given together");
    if (!codes) return {};
    std::vector<std::int32_t> n_levels = copy(*counts);
    const std::vector<std::int32_t> coded = find_coded(n_levels);
    require(coded.size() == codes->shape(1) && n_levels.size() == n_numbers + coded.size(),
            "levels needs a value per column");
    require(!coded.empty() && codes->shape(0) == n_rows, "codes needs a row per row of X");
    check_codes(*codes, coded);
    return n_levels;
}

inline std::size_t count_features(std::size_t n_columns, const std::vector<std::int32_t>& n_levels) {
    if (n_levels.empty()) return n_columns;
    std::size_t n_features = 0;
    for (const std::int32_t n : n_levels) n_features += n > 0 ? static_cast<std::size_t>(n) : 1;
    return n_features;
}

// Runs the work without the GIL, which the watch takes now and then to handle signals and report progress.
template <class Work>
auto watched(const std::optional<nb::callable>& progress, const Work& work) {
    Watch watch([&](std::size_t n_done) {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) return false;
        if (progress) {
            PyObject* answer = PyObject_CallFunction(progress->ptr(), "n", static_cast<Py_ssize_t>(n_done));
            if (!answer) return false;
            Py_DECREF(answer);
        }
        return true;
    });
    try {
        const nb::gil_scoped_release no_gil;
        return work(watch);
    } catch (const Stopped&) {
        throw nb::python_error();  // set by the poll above
    }
}

template <class Choice, std::size_t n>
Choice choose(const std::string& name, const Named<Choice> (&values)[n]) {
    for (const auto& named : values)
        if (name == named.name) return named.value;
    throw std::invalid_argument("unknown name: " + name);
}

template <class Choice, std::size_t n>
nb::tuple names(const Named<Choice> (&values)[n]) {
    nb::list result;
    for (const auto& named : values) result.append(named.name);
    return nb::tuple(result);
}

inline void check_response(const std::uint8_t* response, std::size_t n) {
    for (std::size_t row = 0; row < n; ++row) require(response[row] <= 1, "response is 0 or 1");
}
inline void check_response(const double* response, std::size_t n) {
    for (std::size_t row = 0; row < n; ++row)
        require(std::isfinite(response[row]), "response has a value that is not finite");
}

inline void check_response(const std::int32_t* of_class, std::size_t n) {
    for (std::size_t row = 0; row < n; ++row) require(of_class[row] >= 0, "a class is below 0");
}

inline void check_classes(const std::int32_t* classes, std::size_t n_rows, std::size_t n_classes) {
    for (std::size_t row = 0; row < n_rows; ++row)
        require(classes[row] >= 0 && static_cast<std::size_t>(classes[row]) < n_classes,
                "a class is out of range");
}
inline std::size_t count_classes(const Vector<std::int32_t>& of_class) {
    return static_cast<std::size_t>(*std::max_element(of_class.data(), of_class.data() + of_class.size())) +
           1;
}

inline void check_size(std::size_t n_rows, const char* what) {
    require(n_rows > 0 && n_rows < (std::size_t{1} << 31), what);
}

}  // namespace lhtree
