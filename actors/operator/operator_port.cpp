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

// Of a query such as "depth=2&only=step,wait".
result<inspection_scope> scope_of(std::string_view query) {
  inspection_scope made;
  while (!query.empty()) {
    auto end = std::min(query.find('&'), query.size());
    auto one = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    auto value = one.substr(std::min(one.find('=') + 1, one.size()));
    if (one.starts_with("only=") && !value.empty()) {
      made.only = value;
      continue;
    }
    auto [last, problem] = std::from_chars(value.data(), value.data() + value.size(), made.depth);
    if (!one.starts_with("depth=") || problem != std::errc{} ||
        last != value.data() + value.size() || made.depth < 0 ||
        made.depth > inspection_limits::depth)
      return invalid("'", one,
                     "' is not understood; write depth=0 to depth=", inspection_limits::depth,
                     ", or only=step,wait");
  }
  return made;
}

void respond_with(const http_server::respond& respond, const result<inspection>& what) {
  if (what)
    respond({.type = json_type, .body = to_json(*what) + '\n'});
  else
    respond(error_response(what.status()));
}

class running_port final : public operator_port {
public:
  explicit running_port(parts of) : of_(std::move(of)) {}

  status start(const address& at, const http_limits& limits) {
    TROUPE_ASSIGN(server_, http_server::start(
                               at,
                               [of = of_](const http_request& what, http_server::respond respond) {
                                 answer(of, what.target, std::move(respond));
                               },
                               limits));
    return {};
  }

  uint16_t port() const noexcept override { return server_->port(); }

private:
  static void answer(const parts& of, std::string_view target, http_server::respond respond) {
    auto question = target.find('?');
    auto path = target.substr(0, question);
    auto query = question == target.npos ? std::string_view{} : target.substr(question + 1);
    if (path == "/healthz")
      return of.knock([respond = std::move(respond)] { respond({.body = "ok\n"}); });
    if (path == "/readyz") {
      auto why = of.why_not_ready();
      return respond(why.empty() ? http_response{.body = "ok\n"}
                                 : http_response{.status = 503, .body = why + '\n'});
    }
    if (path == "/metrics")
      return respond(
          {.type = std::string{metrics_text::content_type}, .body = of.inspector->metrics()});
    if (path == node_path || (path.starts_with(node_path) && path[node_path.size()] == '/'))
      return inspect(of, path.substr(node_path.size()), query, respond);
    respond(
        {.status = 404,
         .body =
             "there are /healthz, /readyz, /metrics and /v1/node/<ref>?depth=N&only=KINDS, where "
             "/v1/node/ is the cluster\n"});
  }

  static void inspect(const parts& of, std::string_view ref, std::string_view query,
                      const http_server::respond& respond) {
    auto scope = scope_of(query);
    auto parsed = inspection_ref::parse(ref);
    if (!scope || !parsed)
      return respond(error_response(scope ? parsed.status() : scope.status()));
    if (auto below = depth_of_tasks(*parsed, scope->depth))
      return inspect_all(of, *parsed, *scope, *below, respond);
    auto task = parsed->task();
    if (!task || *task == of.self)
      return respond_with(respond, of.inspector->inspect(*parsed, *scope));
    if (auto known = address_of(of.cluster->now(), *task); !known)
      return respond(error_response(known.status()));
    of.ask_others({.tasks = {*task}, .ref = to_string(*parsed), .scope = *scope},
                  [respond](const task_inspections& said) {
                    for (const auto& [name, answer] : said)
                      respond_with(respond, answer);
                  });
  }

  // The cluster or a job: this task looks, the others are asked.
  static void inspect_all(const parts& of, const inspection_ref& ref, const inspection_scope& scope,
                          int below, const http_server::respond& respond) {
    auto cluster = of.cluster->now();
    auto compose = [cluster, members = of.cluster->members(), ref, depth = scope.depth,
                    respond](task_inspections said) {
      respond_with(respond, inspect_cluster(cluster, *members, ref, depth, std::move(said)));
    };
    if (below < 0)
      return compose({});
    tasks_question what{.tasks = tasks_below(cluster, ref), .ref = {}, .scope = scope};
    what.scope.depth = below;
    if (std::erase(what.tasks, of.self) == 0)
      return of.ask_others(std::move(what), compose);
    auto own = of.inspector->inspect(inspection_ref::of(of.self), what.scope);
    of.ask_others(std::move(what), [self = of.self, own, compose](task_inspections said) {
      said.insert_or_assign(self, own);
      compose(std::move(said));
    });
  }

  const parts of_;
  std::unique_ptr<http_server> server_;
};

} // namespace

result<std::unique_ptr<operator_port>> operator_port::open(const address& at, parts of,
                                                           const http_limits& limits) {
  auto made = std::make_unique<running_port>(std::move(of));
  TROUPE_TRY(made->start(at, limits));
  return std::unique_ptr<operator_port>{std::move(made)};
}

} // namespace troupe
