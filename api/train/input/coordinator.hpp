// Runners fill queues beside the training steps, and end together (white paper 4.6).
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/export.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace troupe {

/// Ends what several do together: at the end of the data, at the first error, or on request. Any
/// thread may call. Asks all to stop in its destructor, and waits a few seconds for them.
class TROUPE_API coordinator {
public:
  using location = std::source_location;

  coordinator();
  coordinator(const coordinator&) = delete;
  coordinator& operator=(const coordinator&) = delete;
  ~coordinator();

  /// Whether all should end now. Loops that train ask it before each step.
  bool should_stop() const noexcept;
  /// Asks all to end.
  void request_stop();
  /// The same because of an error. The first one is what join() throws; out_of_range, the end of
  /// the data, is none.
  void request_stop(const error& why);
  /// Waits until somebody has asked to stop; returns false when the time is over before.
  bool wait_for_stop(std::chrono::milliseconds patience, location where = location::current());

  /// Waits until all runners have ended, which they do once they are asked to, or when their data
  /// ends. Throws the first error; deadline_exceeded, with the names of those that still run, when
  /// the time is over.
  void join(std::chrono::milliseconds patience = std::chrono::minutes{2},
            location where = location::current());

  /// Calls `act` while no step of a runner runs, so that all that queues hold can be saved as of
  /// one moment: `all.while_suspended([&] { checkpoints.save(s, step); })`. Runs under way end
  /// before: elements that wait to be put in are put in, beyond the capacity. Other steps that take
  /// out of these queues meanwhile fail with cancelled. Throws what `act` throws; without calling
  /// it when runs have not ended in time (deadline_exceeded) or a task cannot be reached. A queue
  /// whose task cannot be told to go on is told again until `patience` is over; then all are asked
  /// to stop, as the queue may take no part any more. Threads take turns, and wait for theirs
  /// within `patience`; a call within `act` only calls its function.
  void while_suspended(const std::function<void()>& act,
                       std::chrono::milliseconds patience = std::chrono::minutes{1},
                       location where = location::current());

  /// How many runs each runner has left, by its name; negative where nothing limits them.
  std::map<std::string, int64_t> runs_left() const;
  /// Has runners that start from now on go on with so many, in place of their limits.
  void go_on_from(std::map<std::string, int64_t> runs_left);

  /// The names of the runners that have not ended.
  std::vector<std::string> running() const;

  struct state;

private:
  friend class queue_runner;
  void suspend(std::chrono::steady_clock::time_point until, std::chrono::milliseconds patience,
               location where);
  void resume(std::chrono::milliseconds patience, location where);
  std::shared_ptr<state> state_; // with the runners
};

/// Runs nodes that fill a queue, again and again, so many at once, without threads of its own: each
/// run begins when one before it has ended, and waits while the queue is full. When they fail with
/// out_of_range, the data has ended: it closes the queue, so that those who take out see the end
/// once the queue is empty. Asked to stop, it closes the queue and cancels what waits.
class TROUPE_API queue_runner {
public:
  using location = std::source_location;

  /// Adds to the queue's graph the nodes that close it. Runs each of `enqueues` by itself; name a
  /// node several times to have it run so often at once.
  queue_runner(edge queue, std::vector<node*> enqueues, location where = location::current());

  /// Ends after so many runs of all nodes together, as if the data had ended then.
  queue_runner& limit(int64_t runs) {
    limit_ = runs;
    return *this;
  }

  /// Closes these, too, whenever it closes its queue: each run fills one of them, say.
  queue_runner& closes(const std::vector<edge>& others, location where = location::current());
  /// Leaves the queue open when the data or the runs have ended: what is in it goes round.
  queue_runner& stays_open() {
    stays_open_ = true;
    return *this;
  }

  /// Begins to run, until `by` stops it. The session and the coordinator may go before it has
  /// ended.
  void start(session& in, coordinator& by, location where = location::current()) const;

  const std::string& name() const noexcept { return name_; } ///< of the queue
  edge queue() const noexcept { return queue_; }
  const std::vector<node*>& enqueues() const noexcept { return enqueues_; }

private:
  struct loop;

  std::string name_;
  edge queue_;
  std::vector<node*> enqueues_;
  node* close_ = nullptr;
  node* cancel_ = nullptr;
  node* suspend_ = nullptr;
  node* resume_ = nullptr;
  int64_t limit_ = -1;
  bool stays_open_ = false;
};

} // namespace troupe
