#include "troupe/actors/network/http_client.hpp"

#include "troupe/actors/network/dial.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

namespace troupe {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr uint64_t max_answer = 16 << 20;
constexpr size_t max_shown = 300;

result<std::string> send_request(socket_handle socket, const address& service,
                                 std::string_view target, std::string body,
                                 std::chrono::milliseconds timeout) {
  asio::io_context io;
  beast::tcp_stream stream{asio::ip::tcp::socket{io, asio::ip::tcp::v4(), socket.get()}};
  socket.release();
  http::request<http::string_body> request{http::verb::post, {target.data(), target.size()}, 11};
  request.set(http::field::host, to_string(service));
  request.set(http::field::content_type, "application/json");
  request.keep_alive(false);
  request.body() = std::move(body);
  request.prepare_payload();
  http::response_parser<http::string_body> answer;
  answer.body_limit(max_answer);
  beast::flat_buffer buffer;
  beast::error_code outcome;
  stream.expires_after(timeout);
  http::async_write(stream, request, [&](beast::error_code written, size_t) {
    outcome = written;
    if (!written)
      http::async_read(stream, buffer, answer,
                       [&](beast::error_code read, size_t) { outcome = read; });
  });
  io.run();
  if (outcome)
    return failure(error_kind::unavailable, to_string(service), ": ", outcome.message());
  if (auto status_code = answer.get().result_int(); status_code != 200)
    return failure(error_kind::unavailable, to_string(service), " has answered with status ",
                   status_code, ": ", answer.get().body().substr(0, max_shown));
  return std::move(answer.get().body());
}

} // namespace

result<std::string> http_post(const address& service, std::string_view target, std::string body,
                              std::chrono::milliseconds timeout) {
  std::atomic<bool> never{false};
  auto deadline = step_clock::now() + timeout;
  TROUPE_ASSIGN(auto socket, dial(service, deadline, never));
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - step_clock::now());
  return guarded("sending an HTTP request", [&] {
    return send_request(std::move(socket), service, target, std::move(body),
                        std::max(left, std::chrono::milliseconds{1}));
  });
}

} // namespace troupe
