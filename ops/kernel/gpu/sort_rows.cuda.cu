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

// Each key's rank in its row is the number of keys that are smaller, or equal and earlier.
template <class Key, class Place>
struct rank_key_body {
  const Key* keys;
  Key* sorted;
  Place* places;
  divisor by_columns;
  int64_t columns;
  Key mask;

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t i, const Group& group) const {
    auto [row, own_column] = by_columns(i);
    const auto* row_keys = keys + row * columns;
    auto key = static_cast<Key>(keys[i] & mask);
    int64_t rank = 0;
    for (int64_t k = group.rank(); k < columns; k += group.size()) {
      auto other_key = static_cast<Key>(row_keys[k] & mask);
      rank += other_key < key || (other_key == key && k < own_column);
    }
    rank = group.template all<count_smaller>(rank);
    if (group.rank() == 0) {
      sorted[row * columns + rank] = keys[i];
      places[row * columns + rank] = static_cast<Place>(own_column);
    }
  }
};

// A small number of keys is ranked by comparison, in one launch.
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
  // The whole GPU sorts one row.
  cudaError_t one(void* memory, size_t& bytes, cudaStream_t stream) const {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted, numbers, places, in.columns,
                                           0, in.bits, stream);
  }
  // One block of threads per row.
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
  row_sort<Key, Place> every_row{keys, sorted, numbers.template data<Place>(), places, in};
  // A block takes about as long for 5000 keys as a single row's launch takes. CUB counts the keys
  // of several rows in 31 bits.
  constexpr int64_t keys_for_a_launch = 5000, most = std::numeric_limits<int>::max();
  auto alone = in.rows == 1 || in.rows * keys_for_a_launch < in.columns || in.columns > most;
  auto together = alone ? 1 : most / in.columns;
  for (int64_t first = 0; first < in.rows; first += together) {
    auto part = every_row.part(first, std::min(together, in.rows - first));
    TROUPE_TRY(with_workspace(at, [&](void* memory, size_t& bytes, cudaStream_t stream) {
      return alone ? part.one(memory, bytes, stream) : part.many(memory, bytes, stream);
    }));
  }
  return {};
}

#else
// A low limit in tests, so that few keys take either path, and ranks by one thread, a warp and a
// block.
constexpr int64_t max_ranked = 90, longest_ranked = 45;

template <class Key, class Place>
status sort_keys(kernel_context& at, key_rows in, const Key* keys, Key* sorted, Place* places) {
  struct pair {
    Key key;
    Place place;
  };
  TROUPE_ASSIGN(auto scratch,
                tensor::make(dtype::u8, shape{in.columns * int64_t{sizeof(pair)}}, at.memory()));
  auto* pairs = static_cast<pair*>(scratch.raw());
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
  auto is_ranked = in.columns <= longest_ranked && in.elements() <= max_ranked;
  return is_ranked ? rank_keys(at, in, from, sorted, places)
                   : sort_keys(at, in, from, sorted, places);
}

} // namespace

result<sorted_rows> sort_rows(kernel_context& at, const tensor& keys, int bits) {
  auto columns = keys.dims()[keys.rank() - 1];
  key_rows in{keys.elements() / std::max<int64_t>(columns, 1), columns, bits};
  sorted_rows sorted;
  if (size_of(keys.type()) == 8)
    TROUPE_TRY(sort_as<uint64_t, int64_t>(at, in, keys, sorted));
  else
    TROUPE_TRY(sort_as<uint32_t, int32_t>(at, in, keys, sorted));
  return sorted;
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
