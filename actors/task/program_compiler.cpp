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

result<register_request> program_compiler::read(const register_graph& encoded) const {
  auto registration = std::make_shared<register_partitions>();
  registration->settings = encoded.settings;
  for (const auto& part : encoded.partitions) {
    TROUPE_ASSIGN(auto device, device_name::parse(part.device));
    auto nodes = std::make_unique<graph>(*parts_.ops);
    TROUPE_TRY(
        guarded("reading a graph", [&] { return read_graph(bytes_of(part.graph), *nodes); }));
    registration->partitions.push_back(
        {device, std::move(nodes), part.frame, part.function, part.of_node});
  }
  return registration;
}

// Compiles one registration: the partitions of the step, and those of the functions that run within
// it, each of which becomes a program of the task.
class program_compiler::compilation {
public:
  compilation(const parts& components, register_partitions& registration,
              const connection_ptr& owner)
      : components_(components), registration_(registration), owner_(owner),
        regions_(components.regions) {
    regions_.region_per_node = registration.settings.region_per_node;
    regions_.replay = registration.settings.replay;
    for (auto& cost : registration.settings.costs)
      measured_.add(
          {.node = std::move(cost.node), .device = {}, .runs = 1, .mean_ns = cost.nanoseconds});
    regions_.measured = &measured_;
    regions_.strict_order = registration.settings.deterministic || components.deterministic;
  }

  result<std::shared_ptr<task_program>> run() {
    for (auto& part : registration_.partitions) {
      if (part.function >= max_functions || (part.frame == 0 && part.function != 0))
        return invalid("there is no function ", part.function, " of frame ", part.frame);
      functions_[{part.frame, part.function}].push_back(&part);
    }
    TROUPE_ASSIGN(auto step, compile(functions_[{0, 0}]));
    TROUPE_TRY(note_frames(*step, 0));
    std::map<uint32_t, task_frame> frames;
    size_t functions = 0;
    for (const auto& [key, partitions] : functions_) {
      const auto [number, index] = key;
      if (number == 0)
        continue;
      auto& frame = frames[number];
      functions += size_t{index} + 1 - frame.functions.size(); // the keys are sorted
      if (functions > max_functions)
        return failure(error_kind::resource_exhausted, "a step has more than ", max_functions,
                       " functions in its frames");
      frame.functions.resize(size_t{index} + 1);
      frame.description = partitions.front()->of_node;
      TROUPE_ASSIGN(auto function, compile(partitions));
      function->run_within_steps();
      TROUPE_TRY(note_frames(*function, number));
      frame.functions[index] = std::move(function);
    }
    for (auto& [number, frame] : frames) {
      frame.number = number;
      if (auto origin = origins_.find(number); origin != origins_.end())
        TROUPE_TRY(describe(frame, *origin->second));
      TROUPE_TRY(step->add(std::move(frame)));
    }
    for (const auto& [number, origin] : origins_)
      if (!step->frame(number))
        return invalid(origin->description(), ": its functions are missing");
    step->expect(registration_.settings.peers);
    if (uses_state_)
      step->use_state();
    return step;
  }

private:
  static constexpr size_t max_functions = 65'536;

  result<std::shared_ptr<task_program>> compile(const std::vector<partition*>& partitions) {
    std::vector<std::shared_ptr<const program>> programs;
    std::vector<device_name> devices;
    std::vector<std::shared_ptr<device>> device_views;
    std::vector<std::shared_ptr<region_threads>> threads;
    for (auto* part : partitions) {
      auto device_entry = std::ranges::find(components_.devices, part->device, &owned_device::name);
      if (device_entry == components_.devices.end())
        return failure(error_kind::not_found, "there is no device ", part->device);
      regions_.nodes_use_all_threads = device_entry->device->threads() > 1;
      auto find_state = [&](const node& maker) {
        uses_state_ = true;
        return components_.state->find(maker, registration_.settings.container);
      };
      auto states = components_.server->programs().states_of(owner_, registration_.settings.session,
                                                             to_string(part->device));
      states->set_initial_positions(registration_.settings.positions);
      auto find_kernel_state = [&](const node& kernel, const kernel_state_maker& maker_function,
                                   const kernel_state_format* position) {
        return states->find_or_make(kernel, maker_function, position);
      };
      auto runs =
          regions_.strict_order ? deterministic_view(device_entry->device) : device_entry->device;
      TROUPE_ASSIGN(auto compiled, program::compile(std::move(part->nodes), *runs, find_state,
                                                    regions_, find_kernel_state));
      programs.push_back(std::move(compiled));
      devices.push_back(part->device);
      device_views.push_back(std::move(runs));
      threads.push_back(registration_.settings.low_priority &&
                                !device_entry->device->as_accelerator()
                            ? components_.low_priority
                            : device_entry->launch_thread);
    }
    auto linked = std::make_shared<task_program>(*components_.system, std::move(programs),
                                                 std::move(device_views), components_.recorder);
    linked->set_session(registration_.settings.session);
    linked->set_threads(std::move(threads));
    linked->set_kernels(components_.kernels);
    TROUPE_TRY(linked->link(components_.self, devices, [&](const node& maker) {
      uses_state_ =
          uses_state_ || maker.op().make_waitable_resource; // otherwise it is long work on files
      return components_.state->find_waitable_resource(maker, registration_.settings.container,
                                                       *linked);
    }));
    return linked;
  }

  // Collects the frames of a program. The frames within a frame have higher numbers, so no frame is
  // within itself.
  status note_frames(const task_program& task, uint32_t outer) {
    for (const auto& part : task.programs())
      for (const auto& wait : part->waits()) {
        if (wait.answered_by != answer_source::frame)
          continue;
        auto frame_number = wait.origin->attr<int64_t>("frame");
        auto number = static_cast<uint32_t>(frame_number);
        if (frame_number <= outer || frame_number > UINT32_MAX)
          return invalid(wait.origin->description(), ": frame ", frame_number,
                         " lies within frame ", outer);
        if (!origins_.emplace(number, wait.origin).second)
          return invalid(wait.origin->description(), ": two nodes are frame ", number);
      }
    return {};
  }

  status describe(task_frame& frame, const node& origin) const {
    frame.origin = &origin;
    TROUPE_ASSIGN(const auto* op, components_.ops->find_op(origin.attr<std::string>("kind")));
    frame.call_rule = op->calls;
    frame.results = static_cast<size_t>(origin.outputs());
    frame.order_count = static_cast<size_t>(origin.attr<int64_t>("orders"));
    frame.parallel_iterations = origin.attr<int64_t>("parallel_iterations");
    auto first = static_cast<size_t>(first_argument(*op));
    auto functions = op->calls == call_kind::while_true || op->calls == call_kind::if_true ? 2u
                     : op->calls == call_kind::once                                        ? 1u
                                                                                           : 0u;
    auto is_complete =
        std::ranges::all_of(frame.functions, [](const auto& function) { return !!function; });
    if (op->calls == call_kind::never || origin.inputs().size() < first || !is_complete ||
        (functions != 0 && frame.functions.size() != functions))
      return invalid(origin.description(), ": its functions are not those of a ", op->name);
    frame.values = origin.inputs().size() - first;
    if ((frame.is_loop() && frame.values != frame.results) || frame.order_count > max_functions)
      return invalid(origin.description(), ": takes ", frame.values, " values and gives ",
                     frame.results, ", with ", frame.order_count, " for their order");
    for (auto index : origin.attr<std::vector<int64_t>>("unchanged")) {
      if (!frame.is_loop() || index < 0 || index >= static_cast<int64_t>(frame.values))
        return invalid(origin.description(), ": result ", index, " cannot be unchanged");
      frame.unchanged.push_back(static_cast<size_t>(index));
    }
    for (size_t i = 0; i < frame.functions.size(); ++i) {
      std::set<uint32_t> result_indexes{frame.functions[i]->fetch_indexes().begin(),
                                        frame.functions[i]->fetch_indexes().end()};
      auto is_condition = frame.is_loop() && i == 0;
      auto result_count =
          (is_condition ? 0 : frame.results) + frame.order_count + (frame.is_loop() ? 1u : 0u);
      if (!is_condition)
        for (auto index : frame.unchanged)
          if (!result_indexes.insert(static_cast<uint32_t>(index)).second)
            return invalid(origin.description(), ": function ", i, " gives result ", index,
                           ", which no iteration may change");
      if (result_indexes.size() != result_count ||
          (result_count > 0 && *result_indexes.rbegin() != result_count - 1))
        return invalid(origin.description(), ": function ", i, " gives ", result_indexes.size(),
                       " results, must give ", result_count);
    }
    for (const auto& name : origin.attr<std::vector<std::string>>("tasks")) {
      TROUPE_ASSIGN(auto task, device_name::parse(name));
      frame.other_tasks.push_back(task.name_of_task());
    }
    return {};
  }

  const parts& components_;
  register_partitions& registration_;
  const connection_ptr& owner_;
  region_options regions_;
  node_times measured_;
  bool uses_state_ = false;
  // The partitions by frame and function.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<partition*>> functions_;
  std::map<uint32_t, const node*> origins_; // nodes of frames, by number
};

result<std::shared_ptr<task_program>> program_compiler::compile(register_partitions& registration,
                                                                const connection_ptr& owner) const {
  return guarded("compiling a step", [&] {
    return compilation{parts_, registration, owner}.run();
  });
}

} // namespace troupe
