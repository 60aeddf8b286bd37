#include "troupe/actors/operator/local_operator_port.hpp"

#include "troupe/actors/operator/operator_port.hpp"
#include "troupe/actors/session/session.hpp"

namespace troupe {

result<opened_port> open_local_port(const address& listen_address, const local_task_parts& local) {
  auto view = std::make_shared<cluster_view>(task_addresses{});
  task_addresses known;
  known.tasks.emplace(local_task, "");
  view->set(std::move(known));
  operator_port::parts parts;
  parts.self = local_task;
  parts.cluster = view;
  parts.inspector = std::make_shared<task_inspector>(task_inspector::parts{.address = {},
                                                                           .server = local.server,
                                                                           .state = local.state,
                                                                           .devices = local.devices,
                                                                           .cluster = view});
  parts.inspect_others = [](const tasks_question&,
                            const std::function<void(task_inspections)>& then) { then({}); };
  parts.readiness_error = [] { return std::string{}; };
  parts.check_health = local.check_health;
  TROUPE_ASSIGN(auto port, operator_port::open(listen_address, std::move(parts)));
  auto number = port->port();
  return opened_port{number, std::move(port)};
}

} // namespace troupe
