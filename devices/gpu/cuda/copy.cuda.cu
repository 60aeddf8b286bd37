#include "troupe/devices/gpu/cuda/copy.cuda.hpp"

#include <algorithm>

namespace troupe::gpu {
namespace {

constexpr int tile = 32, tile_rows = 8; // of transpositions

template <size_t Bytes>
struct element;
template <>
struct element<1> {
  using type = uint8_t;
};
template <>
struct element<2> {
  using type = uint16_t;
};
template <>
struct element<4> {
  using type = uint32_t;
};
template <>
struct element<8> {
  using type = uint64_t;
};
template <>
struct element<16> {
  using type = uint4;
};

template <class Body>
cudaError_t with_element(size_t bytes, Body&& body) {
  switch (bytes) {
    case 1: return body(element<1>{});
    case 2: return body(element<2>{});
    case 4: return body(element<4>{});
    case 8: return body(element<8>{});
    default: return body(element<16>{});
  }
}

// Integer divisions cost more than the copy; divisions of 32 bits cost a quarter of those of 64.
template <class Index>
struct loops {
  int rank;
  Index extent[2 * max_rank];
  int64_t from[2 * max_rank], to[2 * max_rank];
};

template <class T, class Index>
__global__ void copy_each(T* to, const T* from, Index count, loops<Index> walk) {
  for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += Index{blockDim.x} * gridDim.x) {
    Index remainder = i;
    int64_t source = 0, target = 0;
    for (int axis = walk.rank - 1; axis > 0; --axis) {
      Index quotient = remainder / walk.extent[axis],
            index = remainder - quotient * walk.extent[axis];
      source += index * walk.from[axis];
      target += index * walk.to[axis];
      remainder = quotient;
    }
    if (walk.rank > 0) {
      source += remainder * walk.from[0];
      target += remainder * walk.to[0];
    }
    to[target] = from[source];
  }
}

// Transposes through shared memory, so that both reads and writes are coalesced.
template <class T>
__global__ void transpose(T* to, const T* from, int64_t rows, int64_t columns, int64_t from_step,
                          int64_t to_step, int64_t from_matrix, int64_t to_matrix) {
  __shared__ T held[tile][tile + 1];
  from += blockIdx.z * from_matrix;
  to += blockIdx.z * to_matrix;
  // The output's rows are the source's columns.
  int64_t row = int64_t{blockIdx.y} * tile, column = int64_t{blockIdx.x} * tile;
  for (int i = threadIdx.y; i < tile; i += tile_rows)
    if (column + i < columns && row + threadIdx.x < rows)
      held[i][threadIdx.x] = from[(column + i) * from_step + row + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < tile; i += tile_rows)
    if (row + i < rows && column + threadIdx.x < columns)
      to[(row + i) * to_step + column + threadIdx.x] = held[threadIdx.x][i];
}

template <class T>
__global__ void fill_each(T* to, T value, int64_t count) {
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += int64_t{blockDim.x} * gridDim.x)
    to[i] = value;
}

// Removes loops of extent 1, and merges loops over contiguous elements.
void simplify(strided_copy& described) {
  int rank = 0;
  for (int i = 0; i < described.rank; ++i) {
    const auto& next = described.loops[static_cast<size_t>(i)];
    if (next.extent == 1)
      continue;
    if (rank > 0) {
      auto& last = described.loops[static_cast<size_t>(rank - 1)];
      if (last.source_stride == next.source_stride * next.extent &&
          last.target_stride == next.target_stride * next.extent) {
        last = {last.extent * next.extent, next.source_stride, next.target_stride};
        continue;
      }
    }
    described.loops[static_cast<size_t>(rank++)] = next;
  }
  described.rank = rank;
}

// Copies contiguous elements as the widest element type that fits.
void widen(strided_copy& described) {
  while (described.rank > 0 && described.element_bytes < 16) {
    auto& last = described.loops[static_cast<size_t>(described.rank - 1)];
    auto fits = last.source_stride == 1 && last.target_stride == 1 && last.extent % 2 == 0;
    auto twice = 2 * described.element_bytes;
    for (auto pointer : {static_cast<const void*>(described.target), described.source})
      fits &= reinterpret_cast<uintptr_t>(pointer) % twice == 0;
    for (int i = 0; i + 1 < described.rank; ++i) {
      const auto& loop = described.loops[static_cast<size_t>(i)];
      fits &= loop.source_stride % 2 == 0 && loop.target_stride % 2 == 0;
    }
    if (!fits)
      return;
    last.extent /= 2;
    for (int i = 0; i + 1 < described.rank; ++i) {
      auto& loop = described.loops[static_cast<size_t>(i)];
      loop.source_stride /= 2;
      loop.target_stride /= 2;
    }
    described.element_bytes = twice;
  }
}

// Whether the two innermost loops are a transposition, of one matrix or of a loop of matrices.
bool is_transposition(const strided_copy& described) {
  if (described.rank != 2 && described.rank != 3)
    return false;
  const auto& outer = described.loops[static_cast<size_t>(described.rank - 2)];
  const auto& inner = described.loops[static_cast<size_t>(described.rank - 1)];
  return outer.source_stride == 1 && inner.target_stride == 1 && outer.extent >= tile / 2 &&
         inner.extent >= tile / 2 && (described.rank == 2 || described.loops[0].extent < 65536) &&
         outer.extent <= int64_t{tile} * 65535; // tiles, in a grid's second dimension
}

template <class T>
cudaError_t launch_transposition(const strided_copy& described, cudaStream_t in) {
  const auto& rows = described.loops[static_cast<size_t>(described.rank - 2)];
  const auto& columns = described.loops[static_cast<size_t>(described.rank - 1)];
  auto matrices = described.rank == 3 ? described.loops[0] : strided_copy::loop{1, 0, 0};
  auto tiles = [](int64_t extent) { return static_cast<unsigned>((extent + tile - 1) / tile); };
  dim3 grid{tiles(columns.extent), tiles(rows.extent), static_cast<unsigned>(matrices.extent)};
  return launch(transpose<T>, grid, dim3{tile, tile_rows}, in, static_cast<T*>(described.target),
                static_cast<const T*>(described.source), rows.extent, columns.extent,
                columns.source_stride, rows.target_stride, matrices.source_stride,
                matrices.target_stride);
}

template <class T, class Index>
cudaError_t launch_each(const strided_copy& described, int64_t count, cudaStream_t in) {
  loops<Index> walk{described.rank, {}, {}, {}};
  for (int i = 0; i < described.rank; ++i) {
    const auto& loop = described.loops[static_cast<size_t>(i)];
    walk.extent[i] = static_cast<Index>(loop.extent);
    walk.from[i] = loop.source_stride;
    walk.to[i] = loop.target_stride;
  }
  return launch(copy_each<T, Index>, blocks_for(count), threads_per_block, in,
                static_cast<T*>(described.target), static_cast<const T*>(described.source),
                static_cast<Index>(count), walk);
}

} // namespace

cudaError_t launch_copy(const strided_copy& original, cudaStream_t in) {
  auto described = original;
  int64_t count = 1;
  for (int i = 0; i < described.rank; ++i)
    count *= described.loops[static_cast<size_t>(i)].extent;
  if (count == 0)
    return cudaSuccess;
  simplify(described);
  widen(described);
  count = 1;
  for (int i = 0; i < described.rank; ++i)
    count *= described.loops[static_cast<size_t>(i)].extent;
  return with_element(described.element_bytes, [&](auto size) {
    using T = typename decltype(size)::type;
    if (is_transposition(described))
      return launch_transposition<T>(described, in);
    // With more elements, the index could overflow when the grid strides.
    return count < int64_t{1} << 30 ? launch_each<T, uint32_t>(described, count, in)
                                    : launch_each<T, uint64_t>(described, count, in);
  });
}

cudaError_t launch_fill(void* to, const void* value, size_t element_bytes, int64_t count,
                        cudaStream_t in) {
  if (count == 0)
    return cudaSuccess;
  return with_element(element_bytes, [&](auto size) {
    using T = typename decltype(size)::type;
    T element_value;
    std::memcpy(&element_value, value, sizeof element_value);
    return launch(fill_each<T>, blocks_for(count), threads_per_block, in, static_cast<T*>(to),
                  element_value, count);
  });
}

} // namespace troupe::gpu
