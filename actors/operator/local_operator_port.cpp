#include "troupe/actors/operator/local_operator_port.hpp"

#include "troupe/actors/operator/operator_port.hpp"
#include "troupe/actors/session/session.hpp"

namespace troupe {

result<opened_port> open_local_port(const address& at, const local_task_parts& of) {
  auto view = std::make_shared<cluster_view>(task_addresses{});
  task_addresses known;
  known.tasks.emplace(local_task, "");
  view->set(std::move(known));
  operator_port::parts parts;
  parts.self = local_task;
  parts.cluster = view;
  parts.inspector = std::make_shared<task_inspector>(task_inspector::parts{.address = {},
                                                                           .server = of.server,
                                                                           .state = of.state,
                                                                           .devices = of.devices,
                                                                           .cluster = view});
  parts.ask_others = [](const tasks_question&, const std::function<void(task_inspections)>& then) {
    then({});
  };
  parts.why_not_ready = [] { return std::string{}; };
  parts.knock = of.knock;
  TROUPE_ASSIGN(auto port, operator_port::open(at, std::move(parts)));
  auto number = port->port();
  return opened_port{number, std::move(port)};
}

} // namespace troupe
