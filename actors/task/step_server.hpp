// What a task does for others while steps run: begins steps, brings them tensors, cancels them. Any
// thread may call, so that exchanges do it themselves: nothing of it waits behind kernels, or for
// an actor that compiles.
#pragma once
#include "troupe/actors/execution/background_step.hpp"
#include "troupe/actors/execution/step_table.hpp"
#include "troupe/actors/task/connection_list.hpp"
#include "troupe/actors/task/hosted_session_list.hpp"
#include "troupe/actors/task/program_store.hpp"
#include "troupe/actors/task/unsettled_steps.hpp"
#include "troupe/runtime/cluster/fill_gate.hpp"
#include "troupe/runtime/insight/event_log.hpp"
#include "troupe/runtime/insight/step_counts.hpp"

#include <atomic>
#include <functional>

namespace troupe {

class step_server {
public:
  /// Bytes of feeds that steps of one connection hold at once; one step alone may have more.
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
  /// Sessions of clients, whose masters are in this task.
  hosted_session_list& hosted() noexcept { return hosted_; }
  /// Of those that were asked for by begin() or run_step.
  const step_counts& counts() const noexcept { return *counts_; }
  step_clock::time_point now() const { return now_(); }
  /// A step that its caller has run in this process, beside begin() and run_step, has ended.
  void note_ended(error_kind how, std::chrono::nanoseconds took) noexcept {
    counts_->ended(how, took);
  }
  /// Of the task.
  event_log& log() noexcept { return *log_; }

  /// Closed while the task waits to be filled.
  fill_gate& filling() noexcept { return filling_; }
  /// Of a peer whose steps have filled it, or were to.
  void end_fill(const peer_connection& by, bool done);

  /// Steps whose parts here have ended, and that are not settled yet.
  size_t unsettled() const { return unsettled_->size(); }

  /// What a step took is spent. Fails where it has gone back.
  status settle(step_id step);

  /// Serves what belongs to a step: run_step, cancel_step, settle_step, tensor_push; `from` gets
  /// the answers as `outgoing`. Says whether it was one of them; else the message is left as it is.
  bool serve(message& what, const connection_ptr& owner, const caf::actor& from,
             caf::execution_unit* unit = nullptr);
  /// Begins a step of a program of that owner, who may have so many at once, and so much memory of
  /// feeds that have come for them, of which this step has `fed` bytes.
  void begin(run_request&& what, const connection_ptr& owner, step_end on_end,
             caf::execution_unit* unit = nullptr, uint64_t fed = 0);
  /// Whether tensors that are announced to an exchange for a step are to be fetched; it is told
  /// when that may have changed.
  demand expect(step_id step, const caf::actor_addr& exchange);
  /// The connection has ended: its programs go, and the steps that need it fail.
  void lose(peer_connection& which, const status& why);
  /// A tensor could not be sent, as the peer is gone: those that the program sends later could not
  /// either.
  void cannot_send(step_id step, const caf::actor_addr& exchange, const status& why);
  /// From now on no step begins, and no program is taken; steps that have begun go on.
  void drain() noexcept { draining_.store(true); }
  bool draining() const noexcept { return draining_.load(); }
  /// Why the task takes nothing new: `unavailable` where it is draining.
  status refusal() const;
  /// Steps that have begun and are not settled, or have not been answered.
  size_t in_flight() const;

  /// Nothing runs or comes any more.
  void close(const status& why);

  /// Called on any thread when there is something that may expire, once until expire() says that
  /// there is nothing more.
  void when_busy(std::function<void()> call) { on_busy_ = std::move(call); }
  /// Ends steps that are long overdue, whoever should have ended them. Says whether to call again.
  bool expire();

private:
  void become_busy();
  void lose_programs(const caf::actor_addr& exchange, const status& why);
  void serve_cancel(cancel_step&& what, peer_connection& owner, caf::execution_unit* unit);
  status serve_settle(const settle_step& what, const peer_connection& owner);
  void serve_run(run_step&& what, const connection_ptr& owner, const caf::actor& from,
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
  fill_gate filling_;
  std::function<void()> on_busy_;
  std::atomic<bool> busy_{false}, draining_{false};
  std::shared_ptr<std::atomic<size_t>> active_ = std::make_shared<std::atomic<size_t>>(0);
};

} // namespace troupe
