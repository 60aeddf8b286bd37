// Assembles elements from components that arrive separately, each under the element's key.
#pragma once
#include "troupe/runtime/state/element_store.hpp"
#include "troupe/runtime/state/waitable_resource.hpp"

#include <deque>
#include <map>
#include <unordered_map>

namespace troupe {

/// The form of a barrier's elements.
struct barrier_options {
  std::string name;
  std::vector<dtype> types = {};          ///< of an element's components
  std::vector<partial_shape> shapes = {}; ///< of the components; empty: any shapes
  int64_t capacity = -1;                  ///< maximum of complete elements; negative: no limit
};

/// Elements come out in the order in which their first components arrived. Elements that a step has
/// taken go back if the step fails.
class barrier final : public waitable_resource {
public:
  static result<std::unique_ptr<barrier>> make(barrier_options options,
                                               allocator& memory = heap_allocator());

  /// Sets one component of the elements with these keys, one slice of `values` for each key. Waits
  /// while the number of complete elements is at the capacity. Sets all keys or none: fails if a
  /// key has that component already, or if the barrier is closed and a key is new.
  void insert_many(request_id request, const tensor& keys, tensor values, int64_t component,
                   answers& done);

  struct take_options {
    int64_t count = 1;
    bool allow_small_batch = false; ///< accept fewer once no more elements can become complete
    bool return_on_failure = true;  ///< the elements go back if the step fails
  };
  /// Takes out complete elements. Returns the numbers of the insertions of their first components
  /// (i64), their keys, and their components, each stacked along a new first axis. Waits while
  /// there are too few; fails with out_of_range when the barrier is closed and no more elements can
  /// become complete.
  void take_many(request_id request, take_options options, answers& done);

  /// Refuses new keys from now on. Incomplete elements can still be completed, unless
  /// `cancel_pending` drops them. Closing again is allowed.
  void close(bool cancel_pending, answers& done);

  int64_t ready() const noexcept { return static_cast<int64_t>(ready_.size()); }
  int64_t incomplete() const noexcept { return static_cast<int64_t>(incomplete_.size()); }

  /// The number of the first insertion, as in TensorFlow.
  static constexpr int64_t first_insertion = INT64_MIN;

  std::string_view kind() const noexcept override { return "barrier"; }
  status declare_again(const waitable_resource& other) const override;
  void cancel(const request_filter& selected, const status& reason, answers& done) override;
  bool holds_for(step_id step) const override { return taken_.contains(step); }
  void end_step(step_id step, bool failed, answers& done) override;
  void reset(const status& reason, answers& done) override;
  std::string describe() const override;
  std::string element_type_text() const override;
  uint64_t bytes() const override;

private:
  struct entry {
    int64_t number = 0; // the rank of its first component in the order of arrival
    int64_t insertion = 0;
    std::string key;
    element components;
    size_t missing = 0;
  };
  struct pending_insert {
    request_id id;
    tensor keys, values;
    size_t component = 0;
  };
  struct pending_take {
    request_id id;
    take_options options;
  };

  barrier(barrier_options options, allocator& memory);

  template <class... Ts>
  status wrong(const Ts&... parts) const;
  status check(const tensor& keys, const tensor& values, int64_t component) const;
  status insert(const pending_insert& insertion);
  result<std::vector<tensor>> join(const std::vector<entry>& entries) const;
  bool has_room() const noexcept;
  bool no_more() const noexcept { return closed_ && incomplete_.empty() && inserts_.empty(); }
  bool admit(answers& done);
  bool serve(answers& done);
  void serve_waiting(answers& done);

  const barrier_options options_;
  allocator* memory_;
  std::unordered_map<std::string, entry> incomplete_; // by key
  std::map<int64_t, entry> ready_;                    // by number
  int64_t next_number_ = 0;
  int64_t next_insertion_ = first_insertion;
  std::deque<pending_insert> inserts_;
  std::deque<pending_take> takes_;
  std::unordered_map<step_id, std::vector<entry>> taken_;
  bool closed_ = false, cancelled_ = false;
};

} // namespace troupe
