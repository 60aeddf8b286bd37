// State whose users may have to wait for an answer: queues, accumulators, barriers (white paper
// 4.6). A pure state machine without threads, clocks or actors: every call returns the answers that
// it made possible.
#pragma once
#include "troupe/runtime/types/status.hpp"
#include "troupe/runtime/types/step_id.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class file_access;
class node;
class waitable_resource;
class usage_meter;

/// Identifies a request. The requests of one step are cancelled together; the same pair must not
/// wait twice at the same time.
struct request_id {
  step_id step;
  uint64_t number = 0;
  bool operator==(const request_id&) const = default;
};

/// Selects requests: those of a step, a single one, or all.
class request_filter {
public:
  request_filter(step_id step) : step_(step) {}
  request_filter(request_id request) : step_(request.step), number_(request.number) {}
  static request_filter every() { return {}; }

  /// Accepts any type with a member `id`.
  bool operator()(const auto& pending) const {
    return (!step_ || *step_ == pending.id.step) && (!number_ || *number_ == pending.id.number);
  }

private:
  request_filter() = default;
  std::optional<step_id> step_;
  std::optional<uint64_t> number_;
};

/// A request by a node to the state behind its first input.
struct question {
  request_id id;
  const node* origin = nullptr;
  std::vector<tensor> inputs = {};    ///< the inputs that are values
  const usage_meter* meter = nullptr; ///< the waitable resource's, if it has one
};

/// The answer to a question: the node's outputs, or an error.
struct answer {
  request_id id;
  status outcome;
  std::vector<tensor> tensors = {};
};

using answers = std::vector<answer>;

/// An operation that a waitable resource needs before it can answer, because it blocks or belongs
/// to another waitable resource.
struct deferred_operation {
  uint32_t number = 0; ///< unique within its waitable resource
  /// A question to the waitable resource behind the node's second input, and the waiting request
  /// that needs it. The step of this request may end meanwhile: the answer then still goes to this
  /// waitable resource.
  std::optional<request_id> requester = {};
  void (*ask)(waitable_resource& source, question&& request, answers& done) = nullptr;
  /// Otherwise work for a thread that may block on disks. The work shares its results with the
  /// waitable resource, which does not access them until the work has ended.
  std::function<status(file_access&)> work = {};
};

/// Every call appends the answers that became possible to `done`, in their order. Not thread-safe.
/// The ops define the questions: op_def::start_operation.
class waitable_resource {
public:
  explicit waitable_resource(std::string name) : name_(std::move(name)) {}
  waitable_resource(const waitable_resource&) = delete;
  waitable_resource& operator=(const waitable_resource&) = delete;
  virtual ~waitable_resource() = default;

  const std::string& name() const noexcept { return name_; }
  /// The kind of state, for errors; different kinds may have the same name.
  virtual std::string_view kind() const noexcept = 0;
  /// Fails unless another declaration of the same kind and name agrees. Reads constants only: any
  /// thread may call.
  virtual status declare_again(const waitable_resource& other) const = 0;

  /// Ends the selected requests that wait, each with `reason`. Waiting requests have changed
  /// nothing.
  virtual void cancel(const request_filter& selected, const status& reason, answers& done) = 0;
  /// Returns whether a step has been given anything that goes back if the step fails.
  virtual bool holds_for(step_id) const { return false; }
  /// Ends a step: what it was given is consumed, or goes back if the step has failed.
  virtual void end_step(step_id step, bool failed, answers& done) = 0;
  /// Returns to the initial state and ends all requests that wait.
  virtual void reset(const status& reason, answers& done) = 0;
  /// Summarizes the content: "3 of 10 elements, 2 dequeues wait".
  virtual std::string describe() const = 0;
  /// The types and shapes of an element: "(f32[28,28], i64[])"; empty for a state without elements.
  virtual std::string element_type_text() const { return {}; }
  /// The bytes of its tensors. Visits each tensor.
  virtual uint64_t bytes() const { return 0; }
  /// The number of elements; negative for a state without elements.
  virtual int64_t size() const noexcept { return -1; }

  /// Called after each other call: moves out the deferred operations that must be started now.
  virtual void take_operations(std::vector<deferred_operation>&) {}
  /// Reports that a deferred operation has ended; on success with the tensors that the source
  /// answered.
  virtual void operation_ended(uint32_t, status, std::vector<tensor>, answers&) {}

private:
  const std::string name_;
};

/// Formats types with their shapes: "(f32[28,28], i64[])". Without shapes, only the types.
inline std::string describe_components(const std::vector<dtype>& types,
                                       const std::vector<partial_shape>& shapes) {
  std::string text;
  for (size_t i = 0; i < types.size(); ++i)
    text += concat(i ? ", " : "", types[i], i < shapes.size() ? concat(shapes[i]) : "");
  return concat('(', text, ')');
}

/// Answers the selected requests with `reason`, and removes them from the requests that wait.
template <class Requests>
void fail_requests(Requests& waiting, const request_filter& selected, const status& reason,
                   answers& done) {
  for (const auto& pending : waiting)
    if (selected(pending))
      done.push_back({pending.id, reason});
  std::erase_if(waiting, selected);
}

} // namespace troupe
