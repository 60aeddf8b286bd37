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

result<std::string> exchange_one(socket_handle socket, const address& to, std::string_view target,
                                 std::string body, std::chrono::milliseconds patience) {
  asio::io_context io;
  beast::tcp_stream stream{asio::ip::tcp::socket{io, asio::ip::tcp::v4(), socket.get()}};
  socket.release();
  http::request<http::string_body> ask{http::verb::post, {target.data(), target.size()}, 11};
  ask.set(http::field::host, to_string(to));
  ask.set(http::field::content_type, "application/json");
  ask.keep_alive(false);
  ask.body() = std::move(body);
  ask.prepare_payload();
  http::response_parser<http::string_body> answer;
  answer.body_limit(max_answer);
  beast::flat_buffer buffer;
  beast::error_code outcome;
  stream.expires_after(patience);
  http::async_write(stream, ask, [&](beast::error_code written, size_t) {
    outcome = written;
    if (!written)
      http::async_read(stream, buffer, answer,
                       [&](beast::error_code read, size_t) { outcome = read; });
  });
  io.run();
  if (outcome)
    return failure(error_kind::unavailable, to_string(to), ": ", outcome.message());
  if (auto how = answer.get().result_int(); how != 200)
    return failure(error_kind::unavailable, to_string(to), " has answered with status ", how, ": ",
                   answer.get().body().substr(0, max_shown));
  return std::move(answer.get().body());
}

} // namespace

result<std::string> http_post(const address& to, std::string_view target, std::string body,
                              std::chrono::milliseconds patience) {
  std::atomic<bool> never{false};
  auto deadline = step_clock::now() + patience;
  TROUPE_ASSIGN(auto socket, dial(to, deadline, never));
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - step_clock::now());
  return guarded("asking by HTTP", [&] {
    return exchange_one(std::move(socket), to, target, std::move(body),
                        std::max(left, std::chrono::milliseconds{1}));
  });
}

} // namespace troupe
