// One region of one instance as an actor: counts the tokens that it waits for, then runs its code.
#pragma once
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/execution/duration_classifier.hpp"
#include "troupe/actors/execution/ready_work.hpp"

namespace troupe {

/// Handles token and wait_answer. The last token makes the region ready. It then runs, in order of
/// preference:
/// - on the threads of its program (region_threads.hpp), if there are any;
/// - on the execution unit that brought the token, unless the region is heavy and the unit is busy
/// for long;
/// - on the threads of its task's kernels (kernel_threads.hpp), or the scheduler if the task has
/// none.
class region_actor final : public inline_actor, public ready_work {
public:
  region_actor(caf::actor_config& config, std::shared_ptr<task_instance> instance, uint32_t program,
               uint32_t region)
      : inline_actor(config), instance_(std::move(instance)), program_(program), region_(region) {}

  resume_result resume(caf::execution_unit* unit, size_t) override;
  void intrusive_ptr_add_ref_impl() override { intrusive_ptr_add_ref(ctrl()); }
  void intrusive_ptr_release_impl() override { intrusive_ptr_release(ctrl()); }

  const char* name() const override { return "troupe.region"; }

  step_queue_state* step_queue() const noexcept override;
  bool is_light() const noexcept override { return !is_heavy(); }
  bool is_brief() const noexcept override;
  bool is_quick() const noexcept override;
  bool has_stopped() const noexcept override;
  bool measures_itself() const noexcept override;
  void took(std::chrono::nanoseconds time) noexcept override { duration_.took(time); }
  void run_elsewhere() noexcept override;

private:
  bool is_heavy() const noexcept; // running it on another thread pays
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

} // namespace troupe
