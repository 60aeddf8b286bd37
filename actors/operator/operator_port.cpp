#include "troupe/actors/operator/operator_port.hpp"

#include "troupe/runtime/insight/metrics_text.hpp"
#include "troupe/serialization/reports/inspection_json.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {
namespace {

constexpr std::string_view node_path = "/v1/node";
constexpr const char* json_type = "application/json";

unsigned status_of(error_kind kind) {
  switch (kind) {
    case error_kind::invalid_argument: return 400;
    case error_kind::not_found: return 404;
    case error_kind::failed_precondition: return 409;
    case error_kind::resource_exhausted: return 429;
    case error_kind::unavailable: return 503;
    case error_kind::deadline_exceeded: return 504;
    default: return 500;
  }
}

http_response error_response(const status& why) {
  return {.status = status_of(why.kind()),
          .body = concat(to_string(why.kind()), ": ", why.message(), '\n')};
}

// Parses a query such as "depth=2&only=step,wait".
result<inspection_scope> scope_of(std::string_view query) {
  inspection_scope scope;
  while (!query.empty()) {
    auto end = std::min(query.find('&'), query.size());
    auto option = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    auto value = option.substr(std::min(option.find('=') + 1, option.size()));
    if (option.starts_with("only=") && !value.empty()) {
      scope.kinds = value;
      continue;
    }
    auto [last, problem] = std::from_chars(value.data(), value.data() + value.size(), scope.depth);
    if (!option.starts_with("depth=") || problem != std::errc{} ||
        last != value.data() + value.size() || scope.depth < 0 ||
        scope.depth > inspection_limits::depth)
      return invalid("'", option,
                     "' is not understood; write depth=0 to depth=", inspection_limits::depth,
                     ", or only=step,wait");
  }
  return scope;
}

void respond_with(const http_server::respond& respond, const result<inspection>& outcome) {
  if (outcome)
    respond({.type = json_type, .body = to_json(*outcome) + '\n'});
  else
    respond(error_response(outcome.status()));
}

class running_port final : public operator_port {
public:
  explicit running_port(parts task) : task_(std::move(task)) {}

  status start(const address& listen_address, const http_limits& limits) {
    TROUPE_ASSIGN(server_,
                  http_server::start(
                      listen_address,
                      [task = task_](const http_request& request, http_server::respond respond) {
                        answer(task, request.target, std::move(respond));
                      },
                      limits));
    return {};
  }

  uint16_t port() const noexcept override { return server_->port(); }

private:
  static void answer(const parts& task, std::string_view target, http_server::respond respond) {
    auto path_end = target.find('?');
    auto path = target.substr(0, path_end);
    auto query = path_end == target.npos ? std::string_view{} : target.substr(path_end + 1);
    if (path == "/healthz")
      return task.check_health([respond = std::move(respond)] { respond({.body = "ok\n"}); });
    if (path == "/readyz") {
      auto why = task.readiness_error();
      return respond(why.empty() ? http_response{.body = "ok\n"}
                                 : http_response{.status = 503, .body = why + '\n'});
    }
    if (path == "/metrics")
      return respond(
          {.type = std::string{metrics_text::content_type}, .body = task.inspector->metrics()});
    if (path == node_path || (path.starts_with(node_path) && path[node_path.size()] == '/'))
      return inspect(task, path.substr(node_path.size()), query, respond);
    respond({.status = 404,
             .body =
                 "the paths are /healthz, /readyz, /metrics and /v1/node/<ref>?depth=N&only=KINDS, "
                 "where /v1/node/ is the cluster\n"});
  }

  static void inspect(const parts& task, std::string_view ref, std::string_view query,
                      const http_server::respond& respond) {
    auto scope = scope_of(query);
    auto parsed = inspection_ref::parse(ref);
    if (!scope || !parsed)
      return respond(error_response(scope ? parsed.status() : scope.status()));
    if (auto tasks_depth = depth_of_tasks(*parsed, scope->depth))
      return inspect_all(task, *parsed, *scope, *tasks_depth, respond);
    auto wanted = parsed->task();
    if (!wanted || *wanted == task.self)
      return respond_with(respond, task.inspector->inspect(*parsed, *scope));
    if (auto known = address_of(task.cluster->now(), *wanted); !known)
      return respond(error_response(known.status()));
    task.inspect_others({.tasks = {*wanted}, .ref = to_string(*parsed), .scope = *scope},
                        [respond](const task_inspections& inspections) {
                          for (const auto& [name, outcome] : inspections)
                            respond_with(respond, outcome);
                        });
  }

  // Inspects the cluster or a job: inspects this task directly, and asks the other tasks.
  static void inspect_all(const parts& task, const inspection_ref& ref,
                          const inspection_scope& scope, int tasks_depth,
                          const http_server::respond& respond) {
    auto cluster = task.cluster->now();
    auto compose = [cluster, members = task.cluster->members(), ref, depth = scope.depth,
                    respond](task_inspections inspections) {
      respond_with(respond, inspect_cluster(cluster, *members, ref, depth, std::move(inspections)));
    };
    if (tasks_depth < 0)
      return compose({});
    tasks_question question{.tasks = tasks_below(cluster, ref), .ref = {}, .scope = scope};
    question.scope.depth = tasks_depth;
    if (std::erase(question.tasks, task.self) == 0)
      return task.inspect_others(std::move(question), compose);
    auto own_inspection = task.inspector->inspect(inspection_ref::of(task.self), question.scope);
    task.inspect_others(std::move(question),
                        [self = task.self, own_inspection, compose](task_inspections inspections) {
                          inspections.insert_or_assign(self, own_inspection);
                          compose(std::move(inspections));
                        });
  }

  const parts task_;
  std::unique_ptr<http_server> server_;
};

} // namespace

result<std::unique_ptr<operator_port>> operator_port::open(const address& listen_address,
                                                           parts task, const http_limits& limits) {
  auto port = std::make_unique<running_port>(std::move(task));
  TROUPE_TRY(port->start(listen_address, limits));
  return std::unique_ptr<operator_port>{std::move(port)};
}

} // namespace troupe
