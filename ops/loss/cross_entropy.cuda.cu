#include "troupe/ops/activation/softmax.cuda.hpp"
#include "troupe/ops/loss/shared/cross_entropy_rows.hpp"

namespace troupe::ops::cross_entropy_gpu {
namespace {

// A class with label 0 contributes 0 even when its logit is infinite.
template <class T>
struct cross_entropy_body {
  const T *x, *labels;
  T *losses, *backprop;
  int64_t size;
  template <class Group>
  TROUPE_DEVICE void operator()(int64_t row, const Group& group) const {
    auto first = row * size;
    auto row_sums = gpu::exponentials_of(x + first, size, group);
    auto total = row_sums.total(), log_sum = log(total) + row_sums.largest;
    compute_type<T> loss{0};
    for (auto i = first + group.rank(); i < first + size; i += group.size()) {
      auto logit = gpu::load(x[i]), label = gpu::load(labels[i]);
      if (label != 0)
        loss += label * (log_sum - logit);
      backprop[i] = gpu::store<T>(exp(logit - row_sums.largest) / total - label);
    }
    loss = group.template all<gpu::add_numbers>(loss);
    if (group.rank() == 0)
      losses[row] = gpu::store<T>(loss);
  }
};

template <class T>
status cross_entropy_on_gpu(kernel_context& at) {
  const auto &features = at.input(0), &labels = at.input(1);
  const auto& dims = features.dims();
  TROUPE_TRY(check_cross_entropy(dims, labels.dims()));
  TROUPE_ASSIGN(auto* loss, at.allocate(0, shape{dims[0]}));
  TROUPE_ASSIGN(auto* backprop, at.allocate(1, dims));
  return gpu::for_each_group(at, dims[0], dims[1],
                             cross_entropy_body<T>{features.data<T>(), labels.data<T>(),
                                                   loss->template data<T>(),
                                                   backprop->template data<T>(), dims[1]});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> cross_entropy_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, cross_entropy_on_gpu<Ts>}...};
}

template <class T>
struct sparse_entropy_body {
  gpu::device_errors wrong;
  const T* x;
  const void* labels; // 32-bit or 64-bit integers
  bool wide;
  T *losses, *backprop;
  int64_t size;
  template <class Group>
  TROUPE_DEVICE void operator()(int64_t row, const Group& group) const {
    auto label = wide ? static_cast<const int64_t*>(labels)[row]
                      : int64_t{static_cast<const int32_t*>(labels)[row]};
    auto first = row * size;
    auto inside = label >= 0 && label < size;
    if (!inside && group.rank() == 0)
      wrong.add(label, size);
    auto row_sums = gpu::exponentials_of(x + first, size, group);
    auto total = row_sums.total();
    for (int64_t c = group.rank(); c < size; c += group.size()) {
      auto logit = gpu::load(x[first + c]);
      auto share = exp(logit - row_sums.largest) / total;
      backprop[first + c] = gpu::store<T>(c == label ? share - 1 : share);
    }
    if (group.rank() == 0)
      losses[row] =
          gpu::store<T>(inside ? log(total) + row_sums.largest - gpu::load(x[first + label])
                               : compute_type<T>{0});
  }
};

template <class T>
status sparse_entropy_on_gpu(kernel_context& at) {
  const auto &features = at.input(0), &labels = at.input(1);
  const auto& dims = features.dims();
  TROUPE_TRY(check_sparse_cross_entropy(dims, labels.dims()));
  TROUPE_ASSIGN(auto* loss, at.allocate(0, shape{dims[0]}));
  TROUPE_ASSIGN(auto* backprop, at.allocate(1, dims));
  return gpu::for_each_group(at, dims[0], dims[1],
                             sparse_entropy_body<T>{{at, "labels"},
                                                    features.data<T>(),
                                                    labels.raw(),
                                                    labels.type() == dtype::i64,
                                                    loss->template data<T>(),
                                                    backprop->template data<T>(),
                                                    dims[1]});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> sparse_entropy_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, sparse_entropy_on_gpu<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(softmax_cross_entropy_with_logits){
    .op = "SoftmaxCrossEntropyWithLogits",
    .device = device_kind::gpu,
    .run = cross_entropy_kernels(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_softmax_cross_entropy_with_logits){
    .op = "SparseSoftmaxCrossEntropyWithLogits",
    .device = device_kind::gpu,
    .run = sparse_entropy_kernels(types::floating),
};

} // namespace troupe::ops::cross_entropy_gpu
