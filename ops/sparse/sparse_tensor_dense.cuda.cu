#include "troupe/ops/kernel/gpu/ordered_scatter.cuda.hpp"
#include "troupe/ops/sparse/shared/sparse_matmul.hpp"
#include "troupe/ops/state/shared/update_functions.hpp"

namespace troupe::ops::sparse_tensor_dense_gpu {
namespace {

// Entries are sorted by the row of the product that they contribute to.
struct entry_row_body {
  gpu::integers indices;
  gpu::device_errors wrong;
  int64_t extents[2];
  bool across;
  int64_t* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto row = indices[2 * i + (across ? 1 : 0)];
    for (int axis = 0; axis < 2; ++axis)
      if (auto index = indices[2 * i + axis]; index < 0 || index >= extents[axis]) {
        wrong.add(index, extents[axis]);
        row = extents[across ? 1 : 0]; // the entry is dropped
      }
    to[i] = row;
  }
};

template <class T>
struct sparse_row_body {
  gpu::update_runs entries;
  gpu::integers indices;
  gpu::divisor by_columns;
  bool across_a, across_b;
  int64_t columns, inner;
  const T *a, *b;
  T* to;

  TROUPE_DEVICE void operator()(int64_t i) const {
    auto [first, column] = by_columns(i);
    if (!entries.begins(first))
      return;
    auto row = entries.parts[first];
    compute_type<T> sum{};
    for (auto at = first; at < entries.count && entries.parts[at] == row; ++at) {
      auto entry = entries.numbers[at];
      auto k = indices[2 * entry + (across_a ? 0 : 1)];
      auto factor = gpu::load(b[across_b ? column * inner + k : k * columns + column]);
      sum = adding{}(sum, multiplying{}(gpu::load(a[entry]), factor));
    }
    to[row * columns + column] = gpu::store<T>(sum);
  }
};

template <class T>
status run_sparse_matmul(kernel_context& at) {
  const auto &indices = at.input(0), &values = at.input(1), &b = at.input(3);
  const auto& across = at.state<adjoints>();
  if (values.rank() != 1)
    return invalid("values must be a vector, got shape ", values.dims());
  TROUPE_ASSIGN(auto dense, dense_shape(indices, at.input(2)));
  auto count = indices.dims()[0];
  if (values.elements() != count)
    return invalid("there must be a value for each index, got ", values.elements(), " values for ",
                   count, " indices");
  TROUPE_ASSIGN(auto dims, sparse_product(dense, b.dims(), across));
  TROUPE_ASSIGN(auto rows, tensor::make(dtype::i64, shape{count}, at.memory()));
  TROUPE_TRY(gpu::for_each(at, count,
                           entry_row_body{gpu::integers{indices},
                                          {at, "indices"},
                                          {dense[0], dense[1]},
                                          across.a,
                                          rows.template data<int64_t>()}));
  TROUPE_ASSIGN(auto sorted, gpu::sort_updates(at, rows, dims[0]));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  fill_zeros(at, *out);
  auto columns = dims[1], all = count * columns;
  return gpu::for_each(at, all,
                       sparse_row_body<T>{gpu::update_runs{sorted},
                                          gpu::integers{indices},
                                          {columns, all},
                                          across.a,
                                          across.b,
                                          columns,
                                          dense[across.a ? 0 : 1],
                                          values.data<T>(),
                                          b.data<T>(),
                                          out->template data<T>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> sparse_matmul_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_sparse_matmul<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_tensor_dense_matmul){
    .op = "SparseTensorDenseMatMul",
    .device = device_kind::gpu,
    .run = sparse_matmul_kernels(types::floating + type_list<int32_t>{}),
    .prepare = keep_adjoints,
};

} // namespace troupe::ops::sparse_tensor_dense_gpu
