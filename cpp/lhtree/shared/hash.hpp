// A fast hash of 128 bits that identifies training rows. It is no protection against forgery.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "lhtree/shared/random.hpp"

namespace lhtree {

class Hash {
  public:
    Hash() {
        for (std::size_t lane = 0; lane < n_lanes; ++lane) {
            lanes_[lane] = mix64(lane + 1);
        }
    }

    // Adds the bytes of an array, and their number. Eight lanes take eight bytes each, with XXH64's step, so
    // that no step waits for the one before.
    void add(const unsigned char* bytes, std::size_t n_bytes) {
        std::size_t begin = 0;
        for (; begin + block_bytes <= n_bytes; begin += block_bytes) {
            add_block(bytes + begin);
        }
        std::array<unsigned char, block_bytes> last{};
        if (begin < n_bytes) {
            std::memcpy(last.data(), bytes + begin, n_bytes - begin);
        }
        add_block(last.data());
        lanes_[0] = derive(lanes_[0], n_bytes);
    }

    // The halves of the hash.
    std::pair<std::uint64_t, std::uint64_t> finish() const {
        std::pair<std::uint64_t, std::uint64_t> halves{1, 2};
        for (const std::uint64_t lane : lanes_) {
            halves.first = derive(halves.first, lane);
            halves.second = derive(lane, halves.second);
        }
        return halves;
    }

  private:
    static constexpr std::size_t n_lanes = 8;
    static constexpr std::size_t block_bytes = n_lanes * sizeof(std::uint64_t);

    void add_block(const unsigned char* block) {
        for (std::size_t lane = 0; lane < n_lanes; ++lane) {
            std::uint64_t word;
            std::memcpy(&word, block + lane * sizeof word, sizeof word);
            const std::uint64_t sum = lanes_[lane] + word * 0xc2b2ae3d27d4eb4fu;
            lanes_[lane] = ((sum << 31) | (sum >> 33)) * 0x9e3779b185ebca87u;
        }
    }

    std::array<std::uint64_t, n_lanes> lanes_;
};

}  // namespace lhtree
