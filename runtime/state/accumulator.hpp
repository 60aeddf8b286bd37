// Sums gradients until enough have arrived (OSDI 4.4: synchronous training with backup workers).
#pragma once
#include "troupe/runtime/state/waitable_resource.hpp"

#include <deque>
#include <map>
#include <set>

namespace troupe {

/// The gradients that an accumulator takes, and its result.
struct accumulator_options {
  std::string name;
  dtype type = dtype::f32;
  partial_shape dims = {};
  bool mean = true;    ///< the result is the mean; else the sum
  bool sparse = false; ///< gradients are rows by index instead of whole tensors
  /// Divides each row by the number of all gradients, not only of those that contain the row.
  bool divide_by_total = false;
};

/// Some rows of a gradient. `rows` has one row for each of `indices`, along its first axis.
struct sparse_gradient {
  tensor indices; ///< i64 vector
  tensor rows;
  tensor dims; ///< i64 vector: the shape of the dense gradient; empty if it is unknown
};

/// Drops gradients that were computed for an older global step than the accumulator's: they come
/// from workers that are too slow. Taking the result starts the next step.
class accumulator final : public waitable_resource {
public:
  static result<std::unique_ptr<accumulator>> make(accumulator_options options,
                                                   allocator& memory = heap_allocator());

  /// Adds a gradient that was computed for `local_step`, and answers immediately. If `contributor`
  /// is not negative, only its first gradient of a global step counts: a restarted worker may send
  /// it again.
  void apply(request_id request, int64_t local_step, const tensor& gradient, answers& done,
             int64_t contributor = -1);
  void apply(request_id request, int64_t local_step, const sparse_gradient& gradient, answers& done,
             int64_t contributor = -1);
  /// Waits until `required` gradients have been added, returns their mean or sum, and starts the
  /// next step without gradients. A sparse accumulator returns indices in rising order, rows and
  /// the shape; the mean of a row is over the gradients that contain it, unless divide_by_total is
  /// set.
  void take(request_id request, int64_t required, answers& done);
  /// Drops the gradients that were added, and fails the requests that wait to take, with `reason`.
  void clear(const status& reason, answers& done);
  void set_global_step(int64_t step) noexcept { global_step_ = step; }
  int64_t accumulated() const noexcept { return count_; }
  int64_t global_step() const noexcept { return global_step_; }

  std::string_view kind() const noexcept override { return "accumulator"; }
  status declare_again(const waitable_resource& other) const override;
  void cancel(const request_filter& selected, const status& reason, answers& done) override;
  /// Does nothing: a taken result has been averaged and belongs to a finished step.
  void end_step(step_id, bool, answers&) override {}
  void reset(const status& reason, answers& done) override;
  std::string describe() const override;
  std::string element_type_text() const override;
  uint64_t bytes() const override;

private:
  struct pending {
    request_id id;
    int64_t required = 1;
  };
  struct row {
    tensor sum;
    int64_t count = 0;
  };

  accumulator(accumulator_options options, allocator& memory);

  template <class... Ts>
  status wrong(const Ts&... parts) const;
  status check(const tensor& gradient) const;
  status check(const sparse_gradient& gradient) const;
  status add(const tensor& gradient);
  status add(const sparse_gradient& gradient);
  template <class Gradient>
  void apply_any(request_id request, int64_t local_step, const Gradient& gradient, answers& done,
                 int64_t contributor);
  void serve(answers& done);
  result<std::vector<tensor>> total_of_gradients();
  result<tensor> finish(const tensor& sum, int64_t count) const;
  dtype sum_type() const noexcept;

  const accumulator_options options_;
  allocator* memory_;
  int64_t global_step_ = 0, count_ = 0;
  std::set<int64_t> contributors_; // of the gradients that were added
  tensor sum_;                     // dense
  std::map<int64_t, row> rows_;    // sparse, by index
  tensor dims_;                    // sparse: the dense shape
  std::deque<pending> takes_;
};

} // namespace troupe
