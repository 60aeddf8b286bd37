#include "troupe/actors/execution/step_waits.hpp"

#include "troupe/actors/execution/frames.hpp"
#include "troupe/actors/execution/region.hpp"
#include "troupe/actors/execution/task_program.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {
namespace {

std::string name_in_container(const node& maker) {
  auto it = maker.attrs().find("shared_name");
  auto* shared = it == maker.attrs().end() ? nullptr : it->second.get_if<std::string>();
  return shared && !shared->empty() ? *shared : maker.name();
}

} // namespace

std::string_view to_string(step_wait::on what) noexcept {
  switch (what) {
    case step_wait::on::tensor: return "tensor";
    case step_wait::on::collective: return "collective";
    case step_wait::on::state: return "state";
    case step_wait::on::files: return "files";
    case step_wait::on::functions: return "functions";
    case step_wait::on::caller: return "caller";
    case step_wait::on::region: return "region";
  }
  return "unknown";
}

std::string describe(const step_wait& what) {
  auto nest = what.nest.empty() ? "" : what.nest + ' ';
  switch (what.what) {
    case step_wait::on::tensor: return concat(nest, what.node, " from ", what.target);
    case step_wait::on::collective: return concat(nest, what.node, " of ", what.target);
    case step_wait::on::state: return concat(nest, what.node, " on ", what.target);
    case step_wait::on::files: return concat(nest, what.node, ", which reads or writes files");
    case step_wait::on::functions: return concat(nest, "the functions of ", what.node);
    default: return nest + what.node;
  }
}

step_wait wait_of(const task_program& step, const program& of, uint32_t wait) {
  const auto& which = of.waits()[wait];
  if (which.by == answered_by::frame)
    return {.what = step_wait::on::functions, .node = step.frame_of(which)->description};
  if (which.by == answered_by::caller)
    return {.what = step_wait::on::caller,
            .node = concat("argument ", which.origin->attr<int64_t>("index"))};
  auto node = which.origin->description();
  if (is_collective(which.origin->op()))
    return {.what = step_wait::on::collective,
            .node = std::move(node),
            .target = concat("group ", which.origin->attr<int64_t>("group_key"))};
  if (which.by == answered_by::state)
    return {.what = step_wait::on::state,
            .node = std::move(node),
            .target = concat(to_string(which.state->op().makes), " '", which.state->name(), '\''),
            .state = name_in_container(*which.state)};
  if (which.by == answered_by::work)
    return {.what = step_wait::on::files, .node = std::move(node)};
  return {.what = step_wait::on::tensor,
          .node = std::move(node),
          .target = which.origin->attr<std::string>("from")};
}

std::string describe_region(const program& of, uint32_t region) {
  const auto& which = of.regions()[region];
  auto text = concat("region ", region, " of ", which.count,
                     which.count == 1 ? " instruction" : " instructions");
  for (uint32_t i = 0; i < which.count; ++i)
    if (const auto* first = of.code()[which.first + i].origin)
      return text + " from " + first->description();
  return text;
}

std::vector<step_wait> list_waits(task_instance& in, size_t most) {
  std::vector<step_wait> found;
  auto scale = in.program().recorder().scale();
  const auto nest = in.nest();
  auto count = static_cast<uint32_t>(in.program().programs().size());
  auto add = [&](step_wait one, int64_t ticks) {
    one.since_ns = scale.ns(ticks);
    one.nest = nest;
    found.push_back(std::move(one));
  };
  for (uint32_t p = 0; p < count; ++p)
    for (uint32_t i = 0; i < in.part(p).program().waits().size() && found.size() < most; ++i)
      if (auto ticks = in.waits_since(p, i)) {
        auto one = wait_of(in.root().program(), in.part(p).program(), i);
        if (auto seat = in.program().seat(p, i); seat.group != collective_seat::none)
          one.detail = in.meeting(seat.group).describe_missing();
        add(std::move(one), ticks);
      }
  for (uint32_t p = 0; p < count; ++p)
    for (uint32_t r = 0; r < in.part(p).program().regions().size() && found.size() < most; ++r)
      if (auto ticks = in.runs_since(p, r).load(std::memory_order_relaxed))
        add({.what = step_wait::on::region, .node = describe_region(in.part(p).program(), r)},
            ticks);
  return found;
}

std::vector<step_wait> waits_of_step(task_instance& root, uint64_t sequence, size_t most) {
  std::vector<step_wait> found;
  auto add = [&](task_instance& in) {
    in.conductor().act_for(sequence, [&] { // also of what runs within: it has the step's number
      auto more = list_waits(in, most - found.size());
      std::ranges::move(more, std::back_inserter(found));
      return status{};
    });
  };
  add(root);
  if (auto* within = root.frames())
    for (const auto& one : within->running())
      if (found.size() < most)
        add(*one);
  return found;
}

} // namespace troupe
