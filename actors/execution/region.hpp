// One region of one instance as an actor: counts the tokens that it waits for, then runs its code.
#pragma once
#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/execution/duration_classifier.hpp"

#include <boost/intrusive/list_hook.hpp>

namespace troupe {

/// Handles token and wait_answer. The last token makes the region ready. It then runs, in order of
/// preference:
/// - on the threads of its program (region_threads.hpp), if there are any;
/// - on the execution unit that brought the token, unless the region is heavy and the unit is busy
/// for long;
/// - on the threads of its task's kernels (kernel_threads.hpp), or the scheduler if the task has
/// none.
class region_actor final
    : public inline_actor,
      public caf::resumable,
      public boost::intrusive::list_base_hook<> { // for the queue of kernel_threads
public:
  region_actor(caf::actor_config& config, std::shared_ptr<task_instance> instance, uint32_t program,
               uint32_t region)
      : inline_actor(config), instance_(std::move(instance)), program_(program), region_(region) {}

  resume_result resume(caf::execution_unit* unit, size_t) override;
  subtype_t subtype() const override { return scheduled_actor; }
  void intrusive_ptr_add_ref_impl() override { intrusive_ptr_add_ref(ctrl()); }
  void intrusive_ptr_release_impl() override { intrusive_ptr_release(ctrl()); }

  const char* name() const override { return "troupe.region"; }
  /// Whether running it on another thread pays.
  bool heavy() const noexcept;
  /// Whether a thread that has more urgent work may run it first.
  bool brief() const noexcept;
  /// Notes how long a run took. The caller of resume() calls it unless measures_itself().
  void took(std::chrono::nanoseconds time) noexcept { duration_.took(time); }
  /// Whether resume() measures how long a run takes.
  bool measures_itself() const noexcept;
  /// Whether it is expected to take a few milliseconds at most: it has no loop, and its nodes are
  /// small. Measured times do not count, because on a busy machine they include waiting for a core.
  bool quick() const noexcept;
  /// Whether its step has failed or was stopped: its kernels then end early.
  bool has_stopped() const noexcept;
  /// The step that it belongs to.
  task_instance& step() const noexcept;
  /// Passes it to other threads. Takes over one reference.
  void run_elsewhere();

private:
  bool receive(caf::mailbox_element& message, caf::execution_unit* unit) override;
  void receive_answer(wait_answer& answer, caf::execution_unit* unit);
  void apply_answer(wait_answer& answer, caf::execution_unit* unit);
  void transfer_values(std::shared_ptr<wait_answer> answer, size_t first);
  status check(const wait_answer& answer) const;
  void become_ready(caf::execution_unit* unit, bool prefer_other_thread);

  std::shared_ptr<task_instance> instance_;
  uint32_t program_, region_;
  duration_classifier duration_;
};

/// Passes on ready work: regions to the threads that run them elsewhere, other actors to the
/// scheduler.
void schedule_elsewhere(caf::actor_system& system, caf::resumable* ready);

} // namespace troupe
