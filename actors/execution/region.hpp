// One region of one instance as an actor: counts the tokens it waits for, then runs its code.
#pragma once
#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/execution/run_length.hpp"

#include <boost/intrusive/list_hook.hpp>

namespace troupe {

/// Understands token and wait_answer. The last token makes it ready; it then runs on the execution
/// unit that brought the token; or on the threads of its task's kernels (kernel_threads.hpp), or
/// the scheduler where the task has none, where there is no unit, or where it is heavy and that
/// unit is busy for long; or on threads of its program's own (region_threads.hpp).
class region_actor final : public inline_actor,
                           public caf::resumable,
                           public boost::intrusive::list_base_hook<> { // of kernel_threads
public:
  region_actor(caf::actor_config& config, std::shared_ptr<task_instance> in, uint32_t program,
               uint32_t which)
      : inline_actor(config), in_(std::move(in)), program_(program), which_(which) {}

  resume_result resume(caf::execution_unit* unit, size_t) override;
  subtype_t subtype() const override { return scheduled_actor; }
  void intrusive_ptr_add_ref_impl() override { intrusive_ptr_add_ref(ctrl()); }
  void intrusive_ptr_release_impl() override { intrusive_ptr_release(ctrl()); }

  const char* name() const override { return "troupe.region"; }
  /// Whether it is worth another thread.
  bool heavy() const noexcept;
  /// Whether a thread that has more urgent work may run it in between.
  bool brief() const noexcept;
  /// How long it takes, where resume() does not measure that itself.
  void took(std::chrono::nanoseconds time) noexcept { length_.took(time); }
  bool measures_itself() const noexcept;
  /// Whether it is expected to take a few milliseconds at most: it has no loop, and its nodes are
  /// small. How long it took does not count: on a busy machine it may have waited for a processor.
  bool quick() const noexcept;
  /// Whether its step has failed or was stopped, so that kernels leave off.
  bool has_stopped() const noexcept;
  /// The step that it runs in.
  task_instance& step() const noexcept;
  /// Has other threads run it. Takes over one reference.
  void run_elsewhere();

private:
  bool receive(caf::mailbox_element& message, caf::execution_unit* unit) override;
  void take(wait_answer& what, caf::execution_unit* unit);
  void settle(wait_answer& what, caf::execution_unit* unit);
  void bring(std::shared_ptr<wait_answer> what, size_t from);
  status check(const wait_answer& what) const;
  void become_ready(caf::execution_unit* unit, bool prefer_other_thread);

  std::shared_ptr<task_instance> in_;
  uint32_t program_, which_;
  run_length length_;
};

/// What a thread has no time for: regions go where they run elsewhere, all else to the scheduler.
void hand_on(caf::actor_system& system, caf::resumable* ready);

} // namespace troupe
