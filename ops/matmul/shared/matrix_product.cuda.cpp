#include "troupe/ops/matmul/shared/matrix_product.cuda.hpp"

#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops {
namespace {

// Each launch takes microseconds: rather than more of them, broadcast operands are written out.
constexpr int64_t max_launches = 8;

const void* element(const tensor& of, int64_t i) {
  return static_cast<const std::byte*>(of.raw()) + static_cast<size_t>(i) * size_of(of.type());
}

// The matrices of an operand behind each other, as many as there are products.
result<tensor> written_out(kernel_context& at, const strided_iterator& batches, int operand,
                           int64_t size, const tensor& from) {
  TROUPE_ASSIGN(auto dims, shape::make(std::array{batches.elements(), size}));
  TROUPE_ASSIGN(auto made, tensor::make(from.type(), dims, at.memory()));
  strided_iterator places;
  for (int axis = 0; axis < batches.rank(); ++axis)
    places.push_back(batches.extent(axis), {batches.stride(axis, operand), 0});
  places.push_back(size, {1, 0});
  copy_strided(at, places, {from}, made);
  return made;
}

} // namespace

status multiply_on_gpu(kernel_context& at, const matrix_product& what, const tensor& a,
                       const tensor& b, tensor& c) {
  return multiply_on_gpu(at, what, a, b, c, {});
}

status multiply_on_gpu(kernel_context& at, const matrix_product& what, const tensor& a,
                       const tensor& b, tensor& c, const gpu::epilogue& last) {
  if (c.elements() == 0)
    return {};
  if (what.k == 0 && !last.bias) {
    fill_zeros(at, c);
    return {};
  }
  auto of = joined(what);
  auto& gpu = gpu::gpu_of(at.device());
  const auto& batches = of.batches;
  auto inner = batches.rank() - 1;
  gpu::product one{.type = c.type(),
                   .transpose_a = of.a.transpose,
                   .transpose_b = of.b.transpose,
                   .m = of.m,
                   .n = of.n,
                   .k = of.k,
                   .stride_c = of.m * of.n};
  if (inner < 0)
    return gpu::gemm(gpu, at.memory(), one, a.raw(), b.raw(), c.raw(), last);
  one.batches = batches.extent(inner);
  auto launches = batches.elements() / one.batches;
  if (launches > max_launches) {
    TROUPE_ASSIGN(auto all_a, written_out(at, batches, 0, of.m * of.k, a));
    TROUPE_ASSIGN(auto all_b, written_out(at, batches, 1, of.k * of.n, b));
    one.batches = batches.elements();
    one.stride_a = of.m * of.k;
    one.stride_b = of.k * of.n;
    return gpu::gemm(gpu, at.memory(), one, all_a.raw(), all_b.raw(), c.raw(), last);
  }
  one.stride_a = batches.stride(inner, 0);
  one.stride_b = batches.stride(inner, 1);
  for (int64_t i = 0; i < launches; ++i) {
    auto where = batches.at(i * one.batches);
    TROUPE_TRY(gpu::gemm(gpu, at.memory(), one, element(a, where[0]), element(b, where[1]),
                         const_cast<void*>(element(c, i * one.batches * one.stride_c)), last));
  }
  return {};
}

} // namespace troupe::ops
