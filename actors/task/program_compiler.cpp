#include "troupe/actors/task/program_compiler.hpp"

#include "troupe/actors/task/step_server.hpp"
#include "troupe/devices/deterministic/deterministic.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/types/guarded.hpp"
#include "troupe/serialization/wire/payload.hpp"
#include "troupe/serialization/wire/wire.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace troupe {

result<register_request> program_compiler::read(const register_graph& what) const {
  auto made = std::make_shared<register_partitions>();
  made->how = what.how;
  for (const auto& one : what.partitions) {
    TROUPE_ASSIGN(auto device, device_name::parse(one.device));
    auto nodes = std::make_unique<graph>(*of_.ops);
    TROUPE_TRY(guarded("reading a graph", [&] { return read_graph(bytes_of(one.graph), *nodes); }));
    made->partitions.push_back({device, std::move(nodes), one.frame, one.function, one.of_node});
  }
  return made;
}

// The partitions of the step and of the functions that run within it, each of which becomes a
// program of the task.
class program_compiler::compilation {
public:
  compilation(const parts& of, register_partitions& what, const connection_ptr& owner)
      : of_(of), what_(what), owner_(owner), regions_(of.regions) {
    regions_.one_per_node = what.how.region_per_node;
    regions_.replay = what.how.replay;
    for (auto& one : what.how.costs)
      measured_.add(
          {.node = std::move(one.node), .device = {}, .runs = 1, .mean_ns = one.nanoseconds});
    regions_.measured = &measured_;
    regions_.strict_order = what.how.deterministic || of.deterministic;
  }

  result<std::shared_ptr<task_program>> run() {
    for (auto& part : what_.partitions) {
      if (part.function >= max_functions || (part.frame == 0 && part.function != 0))
        return invalid("there is no function ", part.function, " of frame ", part.frame);
      parts_[{part.frame, part.function}].push_back(&part);
    }
    TROUPE_ASSIGN(auto step, compile(parts_[{0, 0}]));
    TROUPE_TRY(note_frames(*step, 0));
    std::map<uint32_t, task_frame> frames;
    size_t functions = 0;
    for (const auto& [which, parts] : parts_) {
      const auto [number, index] = which;
      if (number == 0)
        continue;
      auto& frame = frames[number];
      functions += size_t{index} + 1 - frame.functions.size(); // they are in order
      if (functions > max_functions)
        return failure(error_kind::resource_exhausted, "a step has more than ", max_functions,
                       " functions in its frames");
      frame.functions.resize(size_t{index} + 1);
      frame.description = parts.front()->of_node;
      TROUPE_ASSIGN(auto function, compile(parts));
      function->run_within_steps();
      TROUPE_TRY(note_frames(*function, number));
      frame.functions[index] = std::move(function);
    }
    for (auto& [number, frame] : frames) {
      frame.number = number;
      if (auto it = origins_.find(number); it != origins_.end())
        TROUPE_TRY(describe(frame, *it->second));
      TROUPE_TRY(step->add(std::move(frame)));
    }
    for (const auto& [number, origin] : origins_)
      if (!step->frame(number))
        return invalid(origin->description(), ": its functions are missing");
    step->expect(what_.how.peers);
    if (uses_state_)
      step->use_state();
    return step;
  }

private:
  static constexpr size_t max_functions = 65'536;

  result<std::shared_ptr<task_program>> compile(const std::vector<partition*>& parts) {
    std::vector<std::shared_ptr<const program>> programs;
    std::vector<device_name> devices;
    std::vector<std::shared_ptr<device>> owned;
    std::vector<std::shared_ptr<region_threads>> threads;
    for (auto* part : parts) {
      auto on = std::ranges::find(of_.devices, part->device, &owned_device::name);
      if (on == of_.devices.end())
        return failure(error_kind::not_found, "there is no device ", part->device);
      regions_.nodes_use_all_threads = on->runs->threads() > 1;
      auto find = [&](const node& maker) {
        uses_state_ = true;
        return of_.state->find(maker, what_.how.container);
      };
      auto states =
          of_.server->programs().states_of(owner_, what_.how.session, to_string(part->device));
      states->await(what_.how.positions);
      auto find_kernel_state = [&](const node& of, const kernel_state_maker& make,
                                   const kernel_position* position) {
        return states->find_or_make(of, make, position);
      };
      auto runs = regions_.strict_order ? deterministic_view(on->runs) : on->runs;
      TROUPE_ASSIGN(auto made, program::compile(std::move(part->nodes), *runs, find, regions_,
                                                find_kernel_state));
      programs.push_back(std::move(made));
      devices.push_back(part->device);
      owned.push_back(std::move(runs));
      threads.push_back(what_.how.low_priority && !on->runs->as_accelerator() ? of_.low_priority
                                                                              : on->launches);
    }
    auto linked = std::make_shared<task_program>(*of_.system, std::move(programs), std::move(owned),
                                                 of_.recorder);
    linked->set_session(what_.how.session);
    linked->set_threads(std::move(threads));
    linked->set_kernels(of_.kernels);
    TROUPE_TRY(linked->link(of_.self, devices, [&](const node& maker) {
      uses_state_ = uses_state_ || maker.op().make_responder; // else it reads and writes files
      return of_.state->find_responder(maker, what_.how.container, *linked);
    }));
    return linked;
  }

  // Those within a frame have higher numbers, so that none lies within itself.
  status note_frames(const task_program& of, uint32_t around) {
    for (const auto& one : of.programs())
      for (const auto& wait : one->waits()) {
        if (wait.by != answered_by::frame)
          continue;
        auto given = wait.origin->attr<int64_t>("frame");
        auto number = static_cast<uint32_t>(given);
        if (given <= around || given > UINT32_MAX)
          return invalid(wait.origin->description(), ": frame ", given, " lies within frame ",
                         around);
        if (!origins_.emplace(number, wait.origin).second)
          return invalid(wait.origin->description(), ": two nodes are frame ", number);
      }
    return {};
  }

  status describe(task_frame& frame, const node& origin) const {
    frame.origin = &origin;
    TROUPE_ASSIGN(const auto* op, of_.ops->find_op(origin.attr<std::string>("kind")));
    frame.calls = op->calls;
    frame.results = static_cast<size_t>(origin.outputs());
    frame.orders = static_cast<size_t>(origin.attr<int64_t>("orders"));
    frame.parallel = origin.attr<int64_t>("parallel_iterations");
    auto first = static_cast<size_t>(first_argument(*op));
    auto functions = op->calls == calling::while_true || op->calls == calling::if_true ? 2u
                     : op->calls == calling::once                                      ? 1u
                                                                                       : 0u;
    auto complete = std::ranges::all_of(frame.functions, [](const auto& one) { return !!one; });
    if (op->calls == calling::never || origin.inputs().size() < first || !complete ||
        (functions != 0 && frame.functions.size() != functions))
      return invalid(origin.description(), ": its functions are not those of a ", op->name);
    frame.values = origin.inputs().size() - first;
    if ((frame.is_loop() && frame.values != frame.results) || frame.orders > max_functions)
      return invalid(origin.description(), ": takes ", frame.values, " values and gives ",
                     frame.results, ", with ", frame.orders, " for their order");
    for (auto place : origin.attr<std::vector<int64_t>>("unchanged")) {
      if (!frame.is_loop() || place < 0 || place >= static_cast<int64_t>(frame.values))
        return invalid(origin.description(), ": result ", place, " cannot be unchanged");
      frame.unchanged.push_back(static_cast<size_t>(place));
    }
    for (size_t i = 0; i < frame.functions.size(); ++i) {
      std::set<uint32_t> gives{frame.functions[i]->fetch_indexes().begin(),
                               frame.functions[i]->fetch_indexes().end()};
      auto is_condition = frame.is_loop() && i == 0;
      auto wanted = (is_condition ? 0 : frame.results) + frame.orders + (frame.is_loop() ? 1u : 0u);
      if (!is_condition)
        for (auto place : frame.unchanged)
          if (!gives.insert(static_cast<uint32_t>(place)).second)
            return invalid(origin.description(), ": function ", i, " gives result ", place,
                           ", which no turn may change");
      if (gives.size() != wanted || (wanted > 0 && *gives.rbegin() != wanted - 1))
        return invalid(origin.description(), ": function ", i, " gives ", gives.size(),
                       " results, must give ", wanted);
    }
    for (const auto& one : origin.attr<std::vector<std::string>>("tasks")) {
      TROUPE_ASSIGN(auto task, device_name::parse(one));
      frame.others.push_back(task.on_task());
    }
    return {};
  }

  const parts& of_;
  register_partitions& what_;
  const connection_ptr& owner_;
  region_options regions_;
  node_times measured_;
  bool uses_state_ = false;
  // By the frame and the function that they are of.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<partition*>> parts_;
  std::map<uint32_t, const node*> origins_; // of frames, by number
};

result<std::shared_ptr<task_program>> program_compiler::compile(register_partitions& what,
                                                                const connection_ptr& owner) const {
  return guarded("compiling a step", [&] { return compilation{of_, what, owner}.run(); });
}

} // namespace troupe
