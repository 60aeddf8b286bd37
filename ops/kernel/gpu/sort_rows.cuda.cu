#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"
#include "troupe/ops/kernel/gpu/workspace.cuda.hpp"

#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#else
#include <algorithm>
#endif

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {
namespace {

template <class Key>
Key lowest_bits(int bits) {
  return bits >= static_cast<int>(8 * sizeof(Key)) ? ~Key{0} : (Key{1} << bits) - 1;
}

struct key_rows {
  int64_t rows, columns;
  int bits;
  int64_t elements() const { return rows * columns; }
};

struct count_smaller {
  TROUPE_DEVICE static int64_t step(int64_t a, int64_t b) { return a + b; }
};

// A key goes behind all of its row that are smaller, or the same and came earlier.
template <class Key, class Place>
struct rank_key_body {
  const Key* keys;
  Key* sorted;
  Place* places;
  divisor by_columns;
  int64_t columns;
  Key mask;

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t i, const Group& by) const {
    auto [row, mine] = by_columns(i);
    const auto* others = keys + row * columns;
    auto key = static_cast<Key>(keys[i] & mask);
    int64_t before = 0;
    for (int64_t k = by.rank(); k < columns; k += by.size()) {
      auto other = static_cast<Key>(others[k] & mask);
      before += other < key || (other == key && k < mine);
    }
    before = by.template all<count_smaller>(before);
    if (by.rank() == 0) {
      sorted[row * columns + before] = keys[i];
      places[row * columns + before] = static_cast<Place>(mine);
    }
  }
};

// Few keys are compared with each other, which is one launch.
template <class Key, class Place>
status rank_keys(kernel_context& at, key_rows in, const Key* keys, Key* sorted, Place* places) {
  return for_each_group(at, in.elements(), in.columns,
                        rank_key_body<Key, Place>{keys,
                                                  sorted,
                                                  places,
                                                  {in.columns, in.elements()},
                                                  in.columns,
                                                  lowest_bits<Key>(in.bits)});
}

#ifdef __CUDACC__
constexpr int64_t max_ranked = 8192, longest_ranked = 1024;

template <class Place>
struct number_places_body {
  divisor by_columns;
  Place* to;
  TROUPE_DEVICE void operator()(int64_t i) const { to[i] = static_cast<Place>(by_columns(i).rest); }
};

struct row_begin {
  int64_t columns;
  TROUPE_DEVICE int operator()(int64_t row) const { return static_cast<int>(row * columns); }
};

template <class Key, class Place>
struct row_sort {
  const Key* keys;
  Key* sorted;
  const Place* numbers;
  Place* places;
  key_rows in;

  row_sort part(int64_t first, int64_t rows) const {
    auto skipped = first * in.columns;
    return {keys + skipped,
            sorted + skipped,
            numbers + skipped,
            places + skipped,
            {rows, in.columns, in.bits}};
  }
  // All of the GPU sorts one row.
  cudaError_t one(void* memory, size_t& bytes, cudaStream_t stream) const {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted, numbers, places, in.columns,
                                           0, in.bits, stream);
  }
  // A block of threads for each row.
  cudaError_t many(void* memory, size_t& bytes, cudaStream_t stream) const {
    auto begins = each_of(row_begin{in.columns});
    return cub::DeviceSegmentedRadixSort::SortPairs(
        memory, bytes, keys, sorted, numbers, places, static_cast<int>(in.elements()),
        static_cast<int>(in.rows), begins, begins + 1, 0, in.bits, stream);
  }
};

template <class Key, class Place>
status sort_keys(kernel_context& at, key_rows in, const Key* keys, Key* sorted, Place* places) {
  TROUPE_ASSIGN(auto numbers, tensor::make(dtype_of<Place>, shape{in.elements()}, at.memory()));
  TROUPE_TRY(for_each(
      at, in.elements(),
      number_places_body<Place>{{in.columns, in.elements()}, numbers.template data<Place>()}));
  row_sort<Key, Place> all{keys, sorted, numbers.template data<Place>(), places, in};
  // A block takes about as long for 5000 keys as a row takes to be launched by itself. CUB counts
  // the keys of several rows in 31 bits.
  constexpr int64_t keys_for_a_launch = 5000, most = std::numeric_limits<int>::max();
  auto alone = in.rows == 1 || in.rows * keys_for_a_launch < in.columns || in.columns > most;
  auto together = alone ? 1 : most / in.columns;
  for (int64_t first = 0; first < in.rows; first += together) {
    auto part = all.part(first, std::min(together, in.rows - first));
    TROUPE_TRY(with_workspace(at, [&](void* memory, size_t& bytes, cudaStream_t stream) {
      return alone ? part.one(memory, bytes, stream) : part.many(memory, bytes, stream);
    }));
  }
  return {};
}

#else
// So that tests with few keys go either way, and rank by one thread, a warp and a block.
constexpr int64_t max_ranked = 90, longest_ranked = 45;

template <class Key, class Place>
status sort_keys(kernel_context& at, key_rows in, const Key* keys, Key* sorted, Place* places) {
  struct pair {
    Key key;
    Place place;
  };
  TROUPE_ASSIGN(auto held,
                tensor::make(dtype::u8, shape{in.columns * int64_t{sizeof(pair)}}, at.memory()));
  auto* pairs = static_cast<pair*>(held.raw());
  return launch_alone(at, [=] {
    auto mask = lowest_bits<Key>(in.bits);
    for (int64_t row = 0; row < in.rows; ++row) {
      auto first = row * in.columns;
      for (int64_t i = 0; i < in.columns; ++i)
        pairs[i] = {keys[first + i], static_cast<Place>(i)};
      std::stable_sort(pairs, pairs + in.columns, [mask](const pair& a, const pair& b) {
        return (a.key & mask) < (b.key & mask);
      });
      for (int64_t i = 0; i < in.columns; ++i) {
        sorted[first + i] = pairs[i].key;
        places[first + i] = pairs[i].place;
      }
    }
  });
}
#endif

template <class Key, class Place>
status sort_as(kernel_context& at, key_rows in, const tensor& keys, sorted_rows& to) {
  TROUPE_ASSIGN(to.keys, tensor::make(keys.type(), keys.dims(), at.memory()));
  TROUPE_ASSIGN(to.places, tensor::make(dtype_of<Place>, keys.dims(), at.memory()));
  if (keys.elements() == 0)
    return {};
  const auto* from = static_cast<const Key*>(keys.raw());
  auto* sorted = static_cast<Key*>(to.keys.raw());
  auto* places = to.places.data<Place>();
  auto few = in.columns <= longest_ranked && in.elements() <= max_ranked;
  return few ? rank_keys(at, in, from, sorted, places) : sort_keys(at, in, from, sorted, places);
}

} // namespace

result<sorted_rows> sort_rows(kernel_context& at, const tensor& keys, int bits) {
  auto columns = keys.dims()[keys.rank() - 1];
  key_rows in{keys.elements() / std::max<int64_t>(columns, 1), columns, bits};
  sorted_rows made;
  if (size_of(keys.type()) == 8)
    TROUPE_TRY(sort_as<uint64_t, int64_t>(at, in, keys, made));
  else
    TROUPE_TRY(sort_as<uint32_t, int32_t>(at, in, keys, made));
  return made;
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
