// The requests of other tasks that belong to running steps: begin a step, deliver a tensor, cancel
// a step. Any thread may call, so exchanges call it directly: no request waits behind kernels or
// for an actor that compiles.
#pragma once
#include "troupe/actors/execution/background_step.hpp"
#include "troupe/actors/execution/step_table.hpp"
#include "troupe/actors/task/connection_list.hpp"
#include "troupe/actors/task/hosted_session_list.hpp"
#include "troupe/actors/task/program_store.hpp"
#include "troupe/actors/task/unsettled_steps.hpp"
#include "troupe/runtime/cluster/initialization_gate.hpp"
#include "troupe/runtime/insight/event_log.hpp"
#include "troupe/runtime/insight/step_counts.hpp"

#include <atomic>
#include <functional>

namespace troupe {

/// The steps, programs, connections and hosted sessions of a task, with their limits.
class step_server {
public:
  /// The limit for feeds of the running steps of one connection; a single step may exceed it.
  static constexpr uint64_t max_fed = uint64_t{8} << 30;

  explicit step_server(task_name self, uint64_t incarnation = 0,
                       step_table::clock now = step_clock::now,
                       std::shared_ptr<event_log> log = std::make_shared<event_log>())
      : self_(std::move(self)), log_(std::move(log)), incarnation_(incarnation), now_(now),
        steps_(std::make_shared<step_table>(std::move(now))), programs_(name_) {}

  const task_name& self() const noexcept { return self_; }
  uint64_t incarnation() const noexcept { return incarnation_; }
  step_table& steps() noexcept { return *steps_; }
  program_store& programs() noexcept { return programs_; }
  connection_list& connections() noexcept { return connections_; }
  /// The sessions of clients whose masters are in this task.
  hosted_session_list& hosted() noexcept { return hosted_; }
  /// Counts the steps that begin() or run_step requested.
  const step_counts& counts() const noexcept { return *counts_; }
  step_clock::time_point now() const { return now_(); }
  /// Counts a step that was run in this process without begin() and run_step.
  void note_ended(error_kind kind, std::chrono::nanoseconds took) noexcept {
    counts_->count_ended(kind, took);
  }
  /// The log of the task.
  event_log& log() noexcept { return *log_; }

  /// Closed while the task waits to be initialized.
  initialization_gate& initialization() noexcept { return initialization_; }
  /// Ends the initialization by a peer, whose steps initialized the task if `done`.
  void end_initialization(const peer_connection& peer, bool done);

  /// Returns the number of steps that have ended here and are not settled.
  size_t unsettled() const { return unsettled_->size(); }

  /// Consumes the elements that a step took. Fails if they have been put back.
  status settle(step_id step);

  /// Handles the messages of steps: run_step, cancel_step, settle_step, tensor_push. `from` gets
  /// the answers as `outgoing`. Returns false for other messages, and leaves them unchanged.
  bool serve(message& request, const connection_ptr& owner, const caf::actor& from,
             caf::execution_unit* unit = nullptr);
  /// Begins a step of a program of that owner. Fails if the owner has too many running steps, or if
  /// their feeds, of which this step has `fed` bytes, take too much memory.
  void begin(run_request&& request, const connection_ptr& owner, step_end on_end,
             caf::execution_unit* unit = nullptr, uint64_t fed = 0);
  /// Returns whether tensors that a peer announces to an exchange are to be fetched. The exchange
  /// gets step_news when that may have changed.
  fetch_decision expect(step_id step, const caf::actor_addr& exchange);
  /// Drops the programs of a connection that has ended, and fails the steps that need it.
  void connection_ended(peer_connection& connection, const status& why);
  /// Fails a step whose tensor could not be sent. If the peer is gone, the programs that send to it
  /// are lost, too.
  void send_failed(step_id step, const caf::actor_addr& exchange, const status& why);
  /// Refuses all steps and programs from now on; running steps go on.
  void drain() noexcept { draining_.store(true); }
  bool draining() const noexcept { return draining_.load(); }
  /// Returns the error for new requests: `unavailable` if the task is draining.
  status refusal() const;
  /// Returns the number of steps that are running, not settled, or not answered.
  size_t in_flight() const;

  /// Ends all steps, and refuses later ones.
  void close(const status& why);

  /// Sets a function that is called, on any thread, when steps may expire: once until expire()
  /// returns false.
  void when_busy(std::function<void()> call) { on_busy_ = std::move(call); }
  /// Ends steps whose deadlines passed over a second ago. Returns whether to call again.
  bool expire();

private:
  void note_expiring_state();
  void lose_programs(const caf::actor_addr& exchange, const status& why);
  void serve_cancel(cancel_step&& request, peer_connection& owner, caf::execution_unit* unit);
  status serve_settle(const settle_step& request, const peer_connection& owner);
  void serve_run(run_step&& request, const connection_ptr& owner, const caf::actor& from,
                 caf::execution_unit* unit);

  const task_name self_;
  const std::string name_ = to_string(self_); // for errors
  const std::shared_ptr<event_log> log_;
  const uint64_t incarnation_;
  const step_table::clock now_;
  std::shared_ptr<step_table> steps_;
  std::shared_ptr<unsettled_steps> unsettled_ = std::make_shared<unsettled_steps>();
  std::shared_ptr<step_counts> counts_ = std::make_shared<step_counts>();
  program_store programs_;
  connection_list connections_;
  hosted_session_list hosted_;
  initialization_gate initialization_;
  std::function<void()> on_busy_;
  std::atomic<bool> busy_{false}, draining_{false};
  std::shared_ptr<std::atomic<size_t>> active_ = std::make_shared<std::atomic<size_t>>(0);
};

} // namespace troupe
