#include "troupe/ops/ctc/shared/ctc_paths.cpu.hpp"

#include "troupe/ops/ctc/shared/ctc.cpu.hpp"
#include "troupe/ops/ctc/shared/log_sum.hpp"

#include <mutex>
#include <optional>
#include <span>

namespace troupe::ops {
namespace {

// A row's labels with blanks before, between and after them, and the transitions that paths may
// take.
struct label_sequence {
  std::vector<int64_t> classes;
  int64_t blank;
  bool merge;

  int64_t size() const { return static_cast<int64_t>(classes.size()); }
  int64_t operator[](int64_t u) const { return classes[static_cast<size_t>(u)]; }
  // Repetitions of a label collapse, unless `merge` is off.
  bool may_stay(int64_t u) const { return merge || (*this)[u] == blank; }
  // Equal labels without a blank between them would collapse.
  bool may_skip_to(int64_t u) const {
    return u >= 2 && (*this)[u] != blank && !(merge && (*this)[u] == (*this)[u - 2]);
  }
};

template <class T>
class ctc_row {
public:
  // Logits and gradients of consecutive steps are `stride` apart.
  ctc_row(const label_sequence& labels, int64_t steps, int64_t classes, int64_t stride,
          const T* logits, T* gradient, double* memory)
      : labels_(labels), steps_(steps), classes_(classes), stride_(stride), logits_(logits),
        gradient_(gradient), log_y_(memory), alpha_(memory + steps * classes),
        beta_(alpha_ + steps * labels.size()), posterior_(beta_ + 2 * labels.size()) {}

  // The temporary memory of a row, in doubles; fails where the size overflows.
  static result<shape> memory(int64_t steps, int64_t classes, int64_t labels) {
    TROUPE_ASSIGN(auto per_step, shape::make(std::array{steps + 1, classes + labels + 2}));
    return shape::make(std::array{per_step.elements() + labels});
  }

  // Graves, "Supervised Sequence Labelling with Recurrent Neural Networks", section 7.3.
  double loss() {
    take_logarithms();
    go_forward();
    const auto* last = alpha_ + (steps_ - 1) * labels_.size();
    auto log_p = last[labels_.size() - 1];
    if (labels_.size() > 1)
      log_p = add_logs(log_p, last[labels_.size() - 2]);
    go_backward(log_p);
    return -log_p;
  }

private:
  double log_y(int64_t t, int64_t u) const { return log_y_[t * classes_ + labels_[u]]; }

  void take_logarithms() {
    for (int64_t t = 0; t < steps_; ++t)
      log_probabilities(logits_ + t * stride_, classes_, log_y_ + t * classes_);
  }

  // alpha[t][u]: the probability of all paths that are at u in step t, up to that step.
  void go_forward() {
    for (int64_t u = 0; u < labels_.size(); ++u)
      alpha_[u] = u < 2 ? log_y(0, u) : log_of_zero;
    for (int64_t t = 1; t < steps_; ++t) {
      const auto* previous = alpha_ + (t - 1) * labels_.size();
      auto* now = alpha_ + t * labels_.size();
      for (int64_t u = 0; u < labels_.size(); ++u) {
        auto sum = labels_.may_stay(u) ? previous[u] : log_of_zero;
        if (u >= 1)
          sum = add_logs(sum, previous[u - 1]);
        if (labels_.may_skip_to(u))
          sum = add_logs(sum, previous[u - 2]);
        now[u] = sum + log_y(t, u);
      }
    }
  }

  // beta[u]: the same for the steps after t. The gradient is y less the share of the paths that
  // have that class in step t.
  void go_backward(double log_p) {
    auto *beta = beta_, *after = beta_ + labels_.size();
    for (int64_t u = 0; u < labels_.size(); ++u)
      beta[u] = u + 2 < labels_.size() ? log_of_zero : 0;
    for (auto t = steps_ - 1; t >= 0; --t) {
      if (t + 1 < steps_) {
        std::swap(beta, after);
        for (int64_t u = 0; u < labels_.size(); ++u)
          after[u] += log_y(t + 1, u);
        for (int64_t u = 0; u < labels_.size(); ++u) {
          beta[u] = labels_.may_stay(u) ? after[u] : log_of_zero;
          if (u + 1 < labels_.size())
            beta[u] = add_logs(beta[u], after[u + 1]);
          if (u + 2 < labels_.size() && labels_.may_skip_to(u + 2))
            beta[u] = add_logs(beta[u], after[u + 2]);
        }
      }
      std::fill_n(posterior_, classes_, 0.0);
      if (log_p != log_of_zero)
        for (int64_t u = 0; u < labels_.size(); ++u)
          posterior_[labels_[u]] += std::exp(alpha_[t * labels_.size() + u] + beta[u] - log_p);
      for (int64_t c = 0; c < classes_; ++c)
        gradient_[t * stride_ + c] =
            static_cast<T>(std::exp(log_y_[t * classes_ + c]) - posterior_[c]);
    }
  }

  const label_sequence& labels_;
  const int64_t steps_, classes_, stride_;
  const T* logits_;
  T* gradient_;
  double *log_y_, *alpha_, *beta_, *posterior_;
};

// The checked labels of one row; nullopt where the row is skipped.
result<std::optional<label_sequence>> read_labels(const ctc_options& options, int64_t row,
                                                  std::span<const int32_t> labels, int64_t classes,
                                                  int64_t steps) {
  label_sequence read{.classes = {},
                      .blank = options.blank_first ? 0 : classes - 1,
                      .merge = options.merge_repeated};
  read.classes.push_back(read.blank);
  bool ended = false;
  for (size_t i = 0; i < labels.size(); ++i) {
    auto label = int64_t{labels[i]};
    if (options.collapse_labels && i > 0 && labels[i] == labels[i - 1])
      continue;
    if (label < 0 || (options.blank_first && label >= classes))
      return invalid("label ", label, " of row ", row, " is not in [0, ", classes, ")");
    if (options.blank_first ? label == 0 : label >= read.blank) {
      ended = true;
      continue;
    }
    if (ended)
      return invalid("label ", label, " of row ", row, " follows a blank");
    read.classes.push_back(label);
    read.classes.push_back(read.blank);
  }
  if (static_cast<int64_t>(labels.size()) > steps) {
    if (options.ignore_longer)
      return std::optional<label_sequence>{};
    return invalid("row ", row, " has ", labels.size(), " labels, but only ", steps, " steps");
  }
  return std::optional{std::move(read)};
}

// The offset of each row's labels among all labels.
result<std::vector<size_t>> find_rows(const tensor& indices, int64_t batch) {
  std::vector<size_t> begins(static_cast<size_t>(batch) + 1);
  const auto* index = indices.data<int64_t>();
  for (int64_t i = 0; i < indices.dims()[0]; ++i, index += 2) {
    if (index[0] < 0 || index[0] >= batch || index[1] < 0)
      return invalid("labels_indices has [", index[0], ",", index[1], "] for a batch of ", batch);
    if (i > 0 && (index[0] < index[-2] || (index[0] == index[-2] && index[1] <= index[-1])))
      return invalid("labels_indices must be sorted, but [", index[0], ",", index[1], "] follows [",
                     index[-2], ",", index[-1], "]");
    ++begins[static_cast<size_t>(index[0]) + 1];
  }
  for (size_t b = 1; b < begins.size(); ++b)
    begins[b] += begins[b - 1];
  return begins;
}

status check(const kernel_context& at) {
  TROUPE_TRY(check_ctc_inputs(at.input(0), at.input(3)));
  const auto &indices = at.input(1).dims(), &values = at.input(2).dims();
  if (indices.rank() != 2 || indices[1] != 2 || values.rank() != 1 || values[0] != indices[0])
    return invalid("labels_indices must have two columns and a row for each label, got shape ",
                   indices, " for ", values);
  return {};
}

} // namespace

template <class T>
status run_ctc_loss(kernel_context& at) {
  TROUPE_TRY(check(at));
  const auto& dims = at.input(0).dims();
  auto batch = dims[1], classes = dims[2];
  TROUPE_ASSIGN(auto begins, find_rows(at.input(1), batch));
  TROUPE_ASSIGN(auto* losses, at.allocate(0, shape{batch}));
  TROUPE_ASSIGN(auto* gradients, at.allocate(1, dims));
  std::vector<std::optional<label_sequence>> rows;
  const auto* values = at.input(2).data<int32_t>();
  const auto* lengths = at.input(3).data<int32_t>();
  double max_work = 0;
  for (int64_t b = 0; b < batch; ++b) {
    auto begin = begins[static_cast<size_t>(b)], end = begins[static_cast<size_t>(b) + 1];
    TROUPE_ASSIGN(auto labels, read_labels(at.state<ctc_options>(), b,
                                           {values + begin, end - begin}, classes, lengths[b]));
    max_work = std::max(max_work,
                        static_cast<double>(lengths[b]) *
                            static_cast<double>(classes + 20 * static_cast<int64_t>(end - begin)));
    rows.push_back(std::move(labels));
  }
  auto *loss = losses->template data<T>(), *gradient = gradients->template data<T>();
  const auto* logits = at.input(0).data<T>();
  std::fill_n(gradient, dims.elements(), T{});
  std::mutex mutex;
  status outcome;
  at.parallel_for(batch, 10 * max_work, [&](int64_t begin, int64_t end) {
    for (auto b = begin; b < end; ++b) {
      const auto& labels = rows[static_cast<size_t>(b)];
      loss[b] = 0;
      if (!labels || lengths[b] == 0 || at.stopped())
        continue;
      auto temporary = [&]() -> result<tensor> {
        TROUPE_ASSIGN(auto needed, ctc_row<T>::memory(lengths[b], classes, labels->size()));
        return tensor::make(dtype::f64, needed, at.memory());
      }();
      if (!temporary) {
        std::lock_guard guard{mutex};
        outcome = temporary.status();
        return;
      }
      ctc_row<T> row{*labels,
                     lengths[b],
                     classes,
                     batch * classes,
                     logits + b * classes,
                     gradient + b * classes,
                     temporary->template data<double>()};
      loss[b] = static_cast<T>(row.loss());
    }
  });
  return outcome;
}

template status run_ctc_loss<float>(kernel_context&);
template status run_ctc_loss<double>(kernel_context&);

} // namespace troupe::ops
