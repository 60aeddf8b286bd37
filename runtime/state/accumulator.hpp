// Adds up gradients until enough have come (OSDI 4.4: synchronous training with backup workers).
#pragma once
#include "troupe/runtime/state/responder.hpp"

#include <deque>
#include <map>
#include <set>

namespace troupe {

/// What an accumulator adds up, and what it gives.
struct accumulator_options {
  std::string name;
  dtype type = dtype::f32;
  partial_shape dims = {};
  bool mean = true;    ///< else the sum
  bool sparse = false; ///< rows by index instead of whole tensors
  /// The mean of a row is over all gradients that were taken, also those that do not have it.
  bool rows_by_all = false;
};

/// Some rows of a gradient. `rows` has one for each of `indices`, along its first axis.
struct sparse_gradient {
  tensor indices; ///< i64 vector
  tensor rows;
  tensor dims; ///< i64 vector: the shape of the whole; empty if it is not known
};

/// Gradients that were computed for an older global step than the accumulator's are dropped: they
/// come from workers that are too slow. Taking starts the next step.
class accumulator final : public responder {
public:
  static result<std::unique_ptr<accumulator>> make(accumulator_options options,
                                                   allocator& from = heap_allocator());

  /// Adds a gradient that was computed for `local_step`, at once. Of one contributor the first
  /// counts until all is taken, if it is not negative: one that was restarted may come again.
  void apply(request_id who, int64_t local_step, const tensor& gradient, answers& done,
             int64_t contributor = -1);
  void apply(request_id who, int64_t local_step, const sparse_gradient& gradient, answers& done,
             int64_t contributor = -1);
  /// Waits until `required` gradients have been added, gives their mean or sum, and begins the next
  /// step with none. A sparse accumulator gives indices in rising order, rows and the shape; the
  /// mean of a row is over the gradients that have it.
  void take(request_id who, int64_t required, answers& done);
  /// Drops what has been added, and gives up those that wait to take, with `why`.
  void clear(const status& why, answers& done);
  void set_global_step(int64_t step) noexcept { global_step_ = step; }
  int64_t accumulated() const noexcept { return count_; }
  int64_t global_step() const noexcept { return global_step_; }

  std::string_view kind() const noexcept override { return "accumulator"; }
  status declare_again(const responder& other) const override;
  void cancel(const which_requests& which, const status& why, answers& done) override;
  /// Nothing goes back: what was taken has been averaged, and belongs to a step that is over.
  void settle(step_id, bool, answers&) override {}
  void reset(const status& why, answers& done) override;
  std::string describe() const override;
  std::string holds() const override;
  uint64_t bytes() const override;

private:
  struct pending {
    request_id who;
    int64_t required = 1;
  };
  struct row {
    tensor sum;
    int64_t count = 0;
  };

  accumulator(accumulator_options options, allocator& from);

  template <class... Ts>
  status wrong(const Ts&... parts) const;
  status check(const tensor& gradient) const;
  status check(const sparse_gradient& gradient) const;
  status add(const tensor& gradient);
  status add(const sparse_gradient& gradient);
  template <class Gradient>
  void apply_any(request_id who, int64_t local_step, const Gradient& gradient, answers& done,
                 int64_t contributor);
  void serve(answers& done);
  result<std::vector<tensor>> total();
  result<tensor> finish(const tensor& sum, int64_t count) const;
  dtype sum_type() const noexcept;

  const accumulator_options options_;
  allocator* memory_;
  int64_t global_step_ = 0, count_ = 0;
  std::set<int64_t> contributors_; // of what there is
  tensor sum_;                     // dense
  std::map<int64_t, row> rows_;    // sparse, by index
  tensor dims_;                    // sparse: of the whole
  std::deque<pending> takes_;
};

} // namespace troupe
