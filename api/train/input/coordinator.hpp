// Queue runners and their coordinator: they fill queues in parallel with training, and stop
// together (white paper 4.6).
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

/// Stops a group of runners and loops together: at the end of the data, at the first error, or on
/// request. Thread-safe. The destructor requests a stop, and waits a few seconds for the runners.
class TROUPE_API coordinator {
public:
  using location = std::source_location;

  coordinator();
  coordinator(const coordinator&) = delete;
  coordinator& operator=(const coordinator&) = delete;
  ~coordinator();

  /// Returns true if a stop was requested. Training loops check it before each step.
  bool should_stop() const noexcept;
  /// Requests a stop.
  void request_stop();
  /// Requests a stop because of an error. join() throws the first such error. out_of_range, the end
  /// of the data, does not count as an error.
  void request_stop(const error& cause);
  /// Waits until a stop is requested; returns false after `timeout`.
  bool wait_for_stop(std::chrono::milliseconds timeout, location where = location::current());

  /// Waits until all runners have ended, which they do after a stop request or at the end of their
  /// data. Throws the first error, or deadline_exceeded with the names of the running ones after
  /// `timeout`.
  void join(std::chrono::milliseconds timeout = std::chrono::minutes{2},
            location where = location::current());

  /// Calls `act` while no step of a runner runs, so that the contents of all queues can be saved as
  /// of one moment: `runners.run_while_suspended([&] { checkpoints.save(s, step); })`.
  ///
  /// - Running steps of runners end first. Elements that wait to be enqueued are enqueued, beyond
  /// the capacity.
  /// - Other steps that dequeue from these queues meanwhile fail with cancelled.
  /// - Throws what `act` throws. Does not call it, and throws, if runs have not ended in time
  /// (deadline_exceeded) or a task cannot be reached.
  /// - Resuming a queue whose task cannot be reached is retried until `timeout` is over. Then a
  /// stop is requested, because the queue may stay suspended.
  /// - Concurrent calls are queued, for at most `timeout`. A nested call within `act` only calls
  /// its function.
  void run_while_suspended(const std::function<void()>& act,
                           std::chrono::milliseconds timeout = std::chrono::minutes{1},
                           location where = location::current());

  /// Returns the number of remaining runs of each runner, by its name; negative if unlimited.
  std::map<std::string, int64_t> runs_left() const;
  /// Sets the remaining runs of runners that start later, instead of their limits.
  void restore_runs_left(std::map<std::string, int64_t> runs_left);

  /// Returns the names of the runners that have not ended.
  std::vector<std::string> running() const;

  struct state;

private:
  friend class queue_runner;
  void suspend(std::chrono::steady_clock::time_point until, std::chrono::milliseconds timeout,
               location where);
  void resume(std::chrono::milliseconds timeout, location where);
  std::shared_ptr<state> state_; // shared with the runners
};

/// Runs nodes that fill a queue, repeatedly and concurrently, without threads of its own: each run
/// begins when a previous one has ended, and waits while the queue is full. When a run fails with
/// out_of_range, the data has ended: the runner closes the queue, so that consumers get the end
/// after the last element. After a stop request, it closes the queue and cancels waiting runs.
class TROUPE_API queue_runner {
public:
  using location = std::source_location;

  /// Adds the nodes that close the queue to its graph. Each node of `enqueues` runs in a step of
  /// its own. A node that occurs several times runs that often concurrently.
  queue_runner(edge queue, std::vector<node*> enqueues, location where = location::current());

  /// Limits the runs of all nodes together. After them the runner ends as at the end of the data.
  queue_runner& limit(int64_t runs) {
    limit_ = runs;
    return *this;
  }

  /// Closes other queues whenever it closes its own: for instance if each run fills one of them.
  queue_runner& also_close(const std::vector<edge>& others, location where = location::current());
  /// Leaves the queue open at the end of the data or of the runs: for elements that circulate.
  queue_runner& keep_open() {
    keeps_open_ = true;
    return *this;
  }

  /// Starts the runner, until `runners` stops it. The session and the coordinator may be destroyed
  /// before it has ended.
  void start(session& in, coordinator& runners, location where = location::current()) const;

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
  bool keeps_open_ = false;
};

} // namespace troupe
