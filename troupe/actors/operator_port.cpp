#include "troupe/actors/operator_port.hpp"

#include "troupe/runtime/insight/metrics_text.hpp"
#include "troupe/serialization/files/inspection_json.hpp"

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

// Of a query such as "depth=2"; 1 where there is none.
result<int> depth_of(std::string_view query) {
  int depth = 1;
  if (query.empty())
    return depth;
  constexpr std::string_view key = "depth=";
  auto digits = query.starts_with(key) ? query.substr(key.size()) : std::string_view{};
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), depth);
  if (digits.empty() || problem != std::errc{} || end != digits.data() + digits.size() ||
      depth < 0 || depth > inspection_limits::depth)
    return invalid("'?", query, "' is not understood; write ?depth=0 to ?depth=",
                   inspection_limits::depth);
  return depth;
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
      return respond({.type = std::string{metrics_text::content_type},
                      .body = of.inspector->metrics()});
    if (path == node_path || (path.starts_with(node_path) && path[node_path.size()] == '/'))
      return inspect(of, path.substr(node_path.size()), query, respond);
    respond({.status = 404,
             .body = "there are /healthz, /readyz, /metrics and /v1/node/<ref>?depth=N, where "
                     "/v1/node/ is the cluster\n"});
  }

  static void inspect(const parts& of, std::string_view ref, std::string_view query,
                      const http_server::respond& respond) {
    auto depth = depth_of(query);
    auto parsed = inspection_ref::parse(ref);
    if (!depth || !parsed)
      return respond(error_response(depth ? parsed.status() : depth.status()));
    auto found = of.inspector->inspect(*parsed, *depth);
    if (!found)
      return respond(error_response(found.status()));
    respond({.type = json_type, .body = to_json(*found) + '\n'});
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
