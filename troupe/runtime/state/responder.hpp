// State whose users may have to wait for an answer: queues, accumulators, barriers (white paper
// 4.6). Knows no threads, no clocks and no actors: every call says at once who has got an answer by
// it.
#pragma once
#include "troupe/runtime/types/status.hpp"
#include "troupe/runtime/types/step_id.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class node;

/// Who asks. Requests of one step are cancelled together; a pair must not wait twice at once.
struct request_id {
  step_id step;
  uint64_t number = 0;
  bool operator==(const request_id&) const = default;
};

/// What a node asks of the state behind its first input.
struct question {
  request_id who;
  const node* origin = nullptr;
  std::vector<tensor> inputs = {}; ///< those that are values
};

/// The one answer to a question: what the node outputs, or an error.
struct answer {
  request_id who;
  status outcome;
  std::vector<tensor> tensors = {};
};

using answers = std::vector<answer>;

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

  /// Gives up all that a step waits for, each with `why`. What waited has changed nothing.
  virtual void cancel(step_id step, const status& why, answers& done) = 0;
  /// Gives up one request, such as one that waited too long; nothing happens if it does not wait.
  virtual void cancel(request_id who, const status& why, answers& done) = 0;
  /// A step has ended that was given something: it is spent now, or goes back if the step has
  /// failed.
  virtual void settle(step_id step, bool failed, answers& done) = 0;
  /// Becomes as new, and gives up all that waits.
  virtual void reset(const status& why, answers& done) = 0;
  /// What it holds now, in a few words: "3 of 10 elements, 2 dequeues wait".
  virtual std::string describe() const = 0;

private:
  const std::string name_;
};

/// Ends those requests of a waiting line that the predicate picks; each has a member `who`.
template <class Line, class Which>
void give_up(Line& line, Which which, const status& why, answers& done) {
  for (const auto& one : line)
    if (which(one))
      done.push_back({one.who, why});
  std::erase_if(line, which);
}

} // namespace troupe
