// Random numbers on GPUs: the same blocks of the same streams as on processors.
#pragma once
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/random/shared/distributions.hpp"
#include "troupe/ops/random/shared/stream.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// The numbers of a node whose seeds are known to the host, from a position in its stream on.
struct known_numbers {
  philox numbers;
  uint64_t first;
  TROUPE_DEVICE philox operator()() const { return numbers; }
};

/// Numbers whose two seeds are on the device.
struct seeded_numbers {
  integers seeds;
  static constexpr uint64_t first = 0;
  TROUPE_DEVICE philox operator()() const {
    return philox{static_cast<uint64_t>(seeds[0]), static_cast<uint64_t>(seeds[1])};
  }
};

template <class T, int Count>
struct alignas(sizeof(T) * Count) drawn_pack {
  T items[Count];
};

// One thread per block.
template <class T, int PerBlock, class Numbers, class Draw>
struct fill_random_body {
  Numbers numbers;
  Draw draw;
  T* to;
  int64_t count;

  TROUPE_DEVICE void operator()(int64_t i) const {
    auto block_elements = draw(numbers(), numbers.first + static_cast<uint64_t>(i));
    drawn_pack<T, PerBlock> packed;
    for (int k = 0; k < PerBlock; ++k)
      packed.items[k] = store<T>(block_elements[static_cast<size_t>(k)]);
    if ((i + 1) * PerBlock <= count)
      reinterpret_cast<drawn_pack<T, PerBlock>*>(to)[i] = packed;
    else
      for (int k = 0; i * PerBlock + k < count; ++k)
        to[i * PerBlock + k] = packed.items[k];
  }
};

/// Fills the output with draw(numbers, index), which returns an array of elements per block.
template <class T, int PerBlock, class Numbers, class Draw>
status fill_random(kernel_context& at, tensor& out, Numbers numbers, Draw draw) {
  return for_each(at, ops::blocks_for(out.elements(), PerBlock),
                  fill_random_body<T, PerBlock, Numbers, Draw>{
                      numbers, draw, out.template data<T>(), out.elements()});
}

/// The next blocks of the node's stream.
inline known_numbers next_numbers(kernel_context& at, int64_t blocks) {
  auto& stream = at.state<random_stream>();
  return {stream.numbers(), stream.take(static_cast<uint64_t>(blocks))};
}

/// Fills output 0, whose shape input 0 lists, with the next numbers of the node's stream.
template <class T, int PerBlock, class Draw>
status fill_from_stream(kernel_context& at, Draw draw) {
  TROUPE_ASSIGN(auto dims, drawn_shape(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto numbers = next_numbers(at, ops::blocks_for(dims.elements(), PerBlock));
  return fill_random<T, PerBlock>(at, *out, numbers, draw);
}

template <class T, template <class> class Draw>
status run_drawn(kernel_context& at) {
  return fill_from_stream<T, per_block<T>>(at, Draw<T>{});
}

template <class T, template <class> class Draw>
status run_stateless(kernel_context& at) {
  const auto& seeds = at.input(1);
  TROUPE_TRY(check_seeds(seeds));
  TROUPE_ASSIGN(auto dims, drawn_shape(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  return fill_random<T, per_block<T>>(at, *out, seeded_numbers{integers{seeds}}, Draw<T>{});
}

template <template <class> class Draw, class... Ts>
constexpr inplace_vector<typed_kernel, 18> drawn_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_drawn<Ts, Draw>}...};
}
template <template <class> class Draw, class... Ts>
constexpr inplace_vector<typed_kernel, 18> stateless_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_stateless<Ts, Draw>}...};
}

/// Elements of any real type, as doubles.
class real_elements {
public:
  explicit real_elements(const tensor& values) : from_(values.raw()), type_(values.type()) {}

  TROUPE_DEVICE double operator[](int64_t i) const {
    switch (type_) {
      case dtype::u8: return read<uint8_t>(i);
      case dtype::u16: return read<uint16_t>(i);
      case dtype::u32: return read<uint32_t>(i);
      case dtype::u64: return read<uint64_t>(i);
      case dtype::i8: return read<int8_t>(i);
      case dtype::i16: return read<int16_t>(i);
      case dtype::i32: return read<int32_t>(i);
      case dtype::i64: return read<int64_t>(i);
      case dtype::f16: return read<float16>(i);
      case dtype::bf16: return read<bfloat16>(i);
      case dtype::f32: return read<float>(i);
      default: return read<double>(i);
    }
  }

private:
  template <class T>
  TROUPE_DEVICE double read(int64_t i) const {
    return static_cast<double>(load(static_cast<const T*>(from_)[i]));
  }

  const void* from_;
  dtype type_;
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
