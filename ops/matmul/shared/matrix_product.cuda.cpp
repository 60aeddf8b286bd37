#include "troupe/ops/matmul/shared/matrix_product.cuda.hpp"

#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops {
namespace {

// Each launch takes microseconds. To avoid more launches, broadcast operands are expanded in
// memory.
constexpr int64_t max_launches = 8;

const void* element(const tensor& operand, int64_t i) {
  return static_cast<const std::byte*>(operand.raw()) +
         static_cast<size_t>(i) * size_of(operand.type());
}

// The matrices of an operand in sequence, one per product.
result<tensor> written_out(kernel_context& at, const strided_iterator& batches, int operand,
                           int64_t size, const tensor& from) {
  TROUPE_ASSIGN(auto dims, shape::make(std::array{batches.elements(), size}));
  TROUPE_ASSIGN(auto expanded, tensor::make(from.type(), dims, at.memory()));
  strided_iterator places;
  for (int axis = 0; axis < batches.rank(); ++axis)
    places.push_back(batches.extent(axis), {batches.stride(axis, operand), 0});
  places.push_back(size, {1, 0});
  copy_strided(at, places, {from}, expanded);
  return expanded;
}

} // namespace

status multiply_on_gpu(kernel_context& at, const matrix_product& product, const tensor& a,
                       const tensor& b, tensor& c) {
  return multiply_on_gpu(at, product, a, b, c, {});
}

status multiply_on_gpu(kernel_context& at, const matrix_product& product, const tensor& a,
                       const tensor& b, tensor& c, const gpu::epilogue& last) {
  if (c.elements() == 0)
    return {};
  if (product.k == 0 && !last.bias) {
    fill_zeros(at, c);
    return {};
  }
  auto batched = joined(product);
  auto& gpu = gpu::gpu_of(at.device());
  const auto& batches = batched.batches;
  auto inner = batches.rank() - 1;
  gpu::product description{.type = c.type(),
                           .transpose_a = batched.a.transpose,
                           .transpose_b = batched.b.transpose,
                           .m = batched.m,
                           .n = batched.n,
                           .k = batched.k,
                           .stride_c = batched.m * batched.n};
  if (inner < 0)
    return gpu::gemm(gpu, at.memory(), description, a.raw(), b.raw(), c.raw(), last);
  description.batches = batches.extent(inner);
  auto launches = batches.elements() / description.batches;
  if (launches > max_launches) {
    TROUPE_ASSIGN(auto all_a, written_out(at, batches, 0, batched.m * batched.k, a));
    TROUPE_ASSIGN(auto all_b, written_out(at, batches, 1, batched.k * batched.n, b));
    description.batches = batches.elements();
    description.stride_a = batched.m * batched.k;
    description.stride_b = batched.k * batched.n;
    return gpu::gemm(gpu, at.memory(), description, all_a.raw(), all_b.raw(), c.raw(), last);
  }
  description.stride_a = batches.stride(inner, 0);
  description.stride_b = batches.stride(inner, 1);
  for (int64_t i = 0; i < launches; ++i) {
    auto where = batches.at(i * description.batches);
    TROUPE_TRY(gpu::gemm(
        gpu, at.memory(), description, element(a, where[0]), element(b, where[1]),
        const_cast<void*>(element(c, i * description.batches * description.stride_c)), last));
  }
  return {};
}

} // namespace troupe::ops
