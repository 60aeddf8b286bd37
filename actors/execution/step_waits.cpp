#include "troupe/actors/execution/step_waits.hpp"

#include "troupe/actors/execution/frames.hpp"
#include "troupe/actors/execution/region.hpp"
#include "troupe/actors/execution/task_program.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {
namespace {

std::string name_in_container(const node& maker) {
  auto position = maker.attrs().find("shared_name");
  auto* shared = position == maker.attrs().end() ? nullptr : position->second.get_if<std::string>();
  return shared && !shared->empty() ? *shared : maker.name();
}

} // namespace

std::string_view to_string(step_wait::wait_kind kind) noexcept {
  switch (kind) {
    case step_wait::wait_kind::tensor: return "tensor";
    case step_wait::wait_kind::collective: return "collective";
    case step_wait::wait_kind::state: return "state";
    case step_wait::wait_kind::files: return "files";
    case step_wait::wait_kind::functions: return "functions";
    case step_wait::wait_kind::caller: return "caller";
    case step_wait::wait_kind::region: return "region";
  }
  return "unknown";
}

std::string describe(const step_wait& wait) {
  auto iterations = wait.iterations.empty() ? "" : wait.iterations + ' ';
  switch (wait.kind) {
    case step_wait::wait_kind::tensor: return concat(iterations, wait.node, " from ", wait.target);
    case step_wait::wait_kind::collective:
      return concat(iterations, wait.node, " of ", wait.target);
    case step_wait::wait_kind::state: return concat(iterations, wait.node, " on ", wait.target);
    case step_wait::wait_kind::files:
      return concat(iterations, wait.node, ", which reads or writes files");
    case step_wait::wait_kind::functions: return concat(iterations, "the functions of ", wait.node);
    default: return iterations + wait.node;
  }
}

step_wait wait_of(const task_program& step, const program& part, uint32_t wait) {
  const auto& point = part.waits()[wait];
  if (point.answered_by == answer_source::frame)
    return {.kind = step_wait::wait_kind::functions, .node = step.frame_of(point)->description};
  if (point.answered_by == answer_source::caller)
    return {.kind = step_wait::wait_kind::caller,
            .node = concat("argument ", point.origin->attr<int64_t>("index"))};
  auto node = point.origin->description();
  if (is_collective(point.origin->op()))
    return {.kind = step_wait::wait_kind::collective,
            .node = std::move(node),
            .target = concat("group ", point.origin->attr<int64_t>("group_key"))};
  if (point.answered_by == answer_source::state)
    return {.kind = step_wait::wait_kind::state,
            .node = std::move(node),
            .target =
                concat(to_string(point.state->op().state_kind), " '", point.state->name(), '\''),
            .state = name_in_container(*point.state)};
  if (point.answered_by == answer_source::work)
    return {.kind = step_wait::wait_kind::files, .node = std::move(node)};
  return {.kind = step_wait::wait_kind::tensor,
          .node = std::move(node),
          .target = point.origin->attr<std::string>("from")};
}

std::string describe_region(const program& part, uint32_t region) {
  const auto& region_code = part.regions()[region];
  auto text = concat("region ", region, " of ", region_code.count,
                     region_code.count == 1 ? " instruction" : " instructions");
  for (uint32_t i = 0; i < region_code.count; ++i)
    if (const auto* first = part.code()[region_code.first + i].origin)
      return text + " from " + first->description();
  return text;
}

std::vector<step_wait> list_waits(task_instance& instance, size_t most) {
  std::vector<step_wait> waits;
  auto scale = instance.program().recorder().scale();
  const auto iterations = instance.enclosing_iterations();
  auto count = static_cast<uint32_t>(instance.program().programs().size());
  auto add = [&](step_wait wait, int64_t ticks) {
    wait.since_ns = scale.ns(ticks);
    wait.iterations = iterations;
    waits.push_back(std::move(wait));
  };
  for (uint32_t p = 0; p < count; ++p)
    for (uint32_t i = 0; i < instance.part(p).program().waits().size() && waits.size() < most; ++i)
      if (auto ticks = instance.waits_since(p, i)) {
        auto wait = wait_of(instance.root().program(), instance.part(p).program(), i);
        if (auto slot = instance.program().slot_of(p, i); slot.group != collective_slot::none)
          wait.detail = instance.rendezvous_of(slot.group).describe_missing();
        add(std::move(wait), ticks);
      }
  for (uint32_t p = 0; p < count; ++p)
    for (uint32_t r = 0; r < instance.part(p).program().regions().size() && waits.size() < most;
         ++r)
      if (auto ticks = instance.runs_since(p, r).load(std::memory_order_relaxed))
        add({.kind = step_wait::wait_kind::region,
             .node = describe_region(instance.part(p).program(), r)},
            ticks);
  return waits;
}

std::vector<step_wait> waits_of_step(task_instance& root, uint64_t sequence, size_t most) {
  std::vector<step_wait> waits;
  auto add = [&](task_instance& instance) {
    instance.conductor().act_for(sequence, [&] { // steps within the step have its number, too
      auto more = list_waits(instance, most - waits.size());
      std::ranges::move(more, std::back_inserter(waits));
      return status{};
    });
  };
  add(root);
  if (auto* frames = root.frames())
    for (const auto& instance : frames->running())
      if (waits.size() < most)
        add(*instance);
  return waits;
}

} // namespace troupe
