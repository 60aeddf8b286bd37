#include "troupe/actors/program_compiler.hpp"

#include "troupe/actors/step_server.hpp"
#include "troupe/devices/deterministic/deterministic.hpp"
#include "troupe/runtime/types/guarded.hpp"
#include "troupe/serialization/wire/payload.hpp"
#include "troupe/serialization/wire/wire.hpp"

#include <algorithm>

namespace troupe {

result<register_request> program_compiler::read(const register_graph& what) const {
  auto made = std::make_shared<register_partitions>();
  made->how = what.how;
  for (const auto& one : what.partitions) {
    TROUPE_ASSIGN(auto device, device_name::parse(one.device));
    auto nodes = std::make_unique<graph>(*of_.ops);
    TROUPE_TRY(guarded("reading a graph", [&] { return read_graph(bytes_of(one.graph), *nodes); }));
    made->partitions.push_back({device, std::move(nodes)});
  }
  return made;
}

result<std::shared_ptr<task_program>> program_compiler::compile(register_partitions& what,
                                                                const connection_ptr& owner) const {
  return guarded("compiling a step", [&] { return compile_all(what, owner); });
}

result<std::shared_ptr<task_program>>
program_compiler::compile_all(register_partitions& what, const connection_ptr& owner) const {
  std::vector<std::shared_ptr<const program>> programs;
  std::vector<device_name> devices;
  std::vector<std::shared_ptr<device>> owned;
  std::vector<std::shared_ptr<launch_thread>> launches;
  auto regions = of_.regions;
  regions.one_per_node = what.how.region_per_node;
  regions.replay = what.how.replay;
  node_times measured;
  for (auto& one : what.how.costs)
    measured.add(
        {.node = std::move(one.node), .device = {}, .runs = 1, .mean_ns = one.nanoseconds});
  regions.measured = &measured;
  regions.strict_order = what.how.deterministic || of_.deterministic;
  for (auto& part : what.partitions) {
    auto on = std::ranges::find(of_.devices, part.device, &owned_device::name);
    if (on == of_.devices.end())
      return failure(error_kind::not_found, "there is no device ", part.device);
    regions.nodes_use_all_threads = on->runs->threads() > 1;
    auto find = [&](const node& maker) { return of_.state->find(maker, what.how.container); };
    auto states = of_.server->programs().states_of(owner, what.how.session, to_string(part.device));
    auto find_kernel_state = [&](const node& of, const kernel_state_maker& make) {
      return states->find_or_make(of, make);
    };
    auto runs = regions.strict_order ? deterministic_view(on->runs) : on->runs;
    TROUPE_ASSIGN(auto made,
                  program::compile(std::move(part.nodes), *runs, find, regions, find_kernel_state));
    programs.push_back(std::move(made));
    devices.push_back(part.device);
    owned.push_back(std::move(runs));
    launches.push_back(on->launches);
  }
  auto linked = std::make_shared<task_program>(*of_.system, std::move(programs), std::move(owned),
                                               of_.recorder);
  linked->set_session(what.how.session);
  linked->set_launch_threads(std::move(launches));
  TROUPE_TRY(linked->link(of_.self, devices, [&](const node& maker) {
    return of_.state->find_responder(maker, what.how.container, *linked);
  }));
  linked->expect(what.how.peers);
  return linked;
}

} // namespace troupe
