// State whose users may have to wait for an answer: queues, accumulators, barriers (white paper
// 4.6). Knows no threads, no clocks and no actors: every call says at once who has got an answer by
// it.
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
class responder;
class usage_meter;

/// Who asks. Requests of one step are cancelled together; a pair must not wait twice at once.
struct request_id {
  step_id step;
  uint64_t number = 0;
  bool operator==(const request_id&) const = default;
};

/// Some requests: all of a step, one of them, or all there are.
class which_requests {
public:
  which_requests(step_id of) : step_(of) {}
  which_requests(request_id one) : step_(one.step), number_(one.number) {}
  static which_requests all() { return {}; }

  /// For anything that has a member `who`.
  bool operator()(const auto& pending) const {
    return (!step_ || *step_ == pending.who.step) && (!number_ || *number_ == pending.who.number);
  }

private:
  which_requests() = default;
  std::optional<step_id> step_;
  std::optional<uint64_t> number_;
};

/// What a node asks of the state behind its first input.
struct question {
  request_id who;
  const node* origin = nullptr;
  std::vector<tensor> inputs = {};    ///< those that are values
  const usage_meter* meter = nullptr; ///< of the responder, if there is one
};

/// The one answer to a question: what the node outputs, or an error.
struct answer {
  request_id who;
  status outcome;
  std::vector<tensor> tensors = {};
};

using answers = std::vector<answer>;

/// What a responder has others do before it can answer, since it takes long or is theirs.
struct errand {
  uint32_t number = 0; ///< among those of its responder
  /// What to ask the responder behind the second input of a node, and for which of the requests
  /// that wait. Its step may end meanwhile: what is answered then is this responder's.
  std::optional<request_id> asks_for = {};
  void (*ask)(responder& source, question&& what, answers& done) = nullptr;
  /// Else: work for a thread that may wait for disks. It shares with the responder what it makes,
  /// which the responder leaves alone until the work has ended.
  std::function<status(file_access&)> work = {};
};

/// Every call appends the answers that became possible to `done`, in the order in which they became
/// so. Not thread-safe. What can be asked is said by the ops: op_def::ask.
class responder {
public:
  explicit responder(std::string name) : name_(std::move(name)) {}
  responder(const responder&) = delete;
  responder& operator=(const responder&) = delete;
  virtual ~responder() = default;

  const std::string& name() const noexcept { return name_; }
  /// The kind of state, for errors; different kinds may have the same name.
  virtual std::string_view kind() const noexcept = 0;
  /// Fails unless another declaration of the same kind and name says the same. Looks at nothing
  /// that changes: any thread may call.
  virtual status declare_again(const responder& other) const = 0;

  /// Gives up those that wait, each with `why`. What waited has changed nothing.
  virtual void cancel(const which_requests& which, const status& why, answers& done) = 0;
  /// Whether a step has been given what goes back if it fails.
  virtual bool holds_for(step_id) const { return false; }
  /// A step has ended that was given something: it is spent now, or goes back if the step has
  /// failed.
  virtual void settle(step_id step, bool failed, answers& done) = 0;
  /// Becomes as new, and gives up all that waits.
  virtual void reset(const status& why, answers& done) = 0;
  /// What it holds now, in a few words: "3 of 10 elements, 2 dequeues wait".
  virtual std::string describe() const = 0;
  /// The types and shapes of an element: "(f32[28,28], i64[])"; empty where it holds none.
  virtual std::string holds() const { return {}; }
  /// Of the tensors that it holds now. Looks at each.
  virtual uint64_t bytes() const { return 0; }
  /// How many things it holds; negative where it does not count any.
  virtual int64_t size() const noexcept { return -1; }

  /// Asked after each call: hands out the errands that it wants run now.
  virtual void take_errands(std::vector<errand>&) {}
  /// An errand has ended, in success with what the source answered.
  virtual void errand_ended(uint32_t, status, std::vector<tensor>, answers&) {}

private:
  const std::string name_;
};

/// Types with their shapes: "(f32[28,28], i64[])". Without shapes, the types alone.
inline std::string describe_components(const std::vector<dtype>& types,
                                       const std::vector<partial_shape>& shapes) {
  std::string text;
  for (size_t i = 0; i < types.size(); ++i)
    text += concat(i ? ", " : "", types[i], i < shapes.size() ? concat(shapes[i]) : "");
  return concat('(', text, ')');
}

/// Ends those requests of a waiting line.
template <class Line>
void give_up(Line& line, const which_requests& which, const status& why, answers& done) {
  for (const auto& one : line)
    if (which(one))
      done.push_back({one.who, why});
  std::erase_if(line, which);
}

} // namespace troupe
