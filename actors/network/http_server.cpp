#include "troupe/actors/network/http_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <list>
#include <optional>
#include <thread>

namespace troupe {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;

// The number of bytes of a refused peer that are read after the refusal, so that the peer receives
// the refusal.
constexpr size_t max_bytes_after_refusal = 256 * 1024;
constexpr std::chrono::seconds timeout_after_refusal{1};
// The pause before the next attempt after a connection could not be accepted, mostly for lack of
// descriptors.
constexpr std::chrono::milliseconds accept_pause{100};

http_response refusal_of(unsigned status, std::string reason) {
  return {.status = status, .body = std::move(reason) + '\n'};
}

// "localhost:8080", "[::1]", "127.0.0.1".
bool names_loopback(std::string_view host) {
  if (host.starts_with('[')) {
    auto end = host.find(']');
    return end != host.npos && is_loopback(std::string{host.substr(1, end - 1)});
  }
  return is_loopback(std::string{host.substr(0, host.find(':'))});
}

class connection;

// The state that the connections of a server share. Lives as long as an answer may come.
struct shared_parts : std::enable_shared_from_this<shared_parts> {
  shared_parts(http_server::handler handle_request, const http_limits& http_bounds,
               bool is_on_loopback)
      : on_request(std::move(handle_request)), limits(http_bounds), only_loopback(is_on_loopback) {}
  http_server::handler on_request;
  http_limits limits;
  bool only_loopback;
  std::list<connection*> open; // in the order in which they became idle
  asio::io_context loop{1};
};

class connection final : public std::enable_shared_from_this<connection> {
public:
  connection(shared_parts& shared, tcp::socket socket)
      : parts_(shared), stream_(std::move(socket)), answer_timer_(shared.loop),
        buffer_(shared.limits.header_bytes + shared.limits.body_bytes + 1024) {
    position_ = parts_.open.insert(parts_.open.end(), this);
  }
  ~connection() { parts_.open.erase(position_); }

  void begin() { await_request(parts_.limits.request); }
  bool idle() const noexcept { return idle_; }
  void close() { stream_.close(); }

  void refuse(http_response why) {
    closes_after_response_ = true;
    send(std::move(why));
  }

private:
  // Waits for the first byte of a request, with which the time limit of the request begins.
  void await_request(std::chrono::milliseconds timeout) {
    if (buffer_.size() > 0)
      return read();
    idle_ = true;
    parts_.open.splice(parts_.open.end(), parts_.open, position_);
    stream_.expires_after(timeout);
    stream_.async_read_some(buffer_.prepare(1024),
                            [self = shared_from_this()](error_code problem, size_t bytes) {
                              self->idle_ = false;
                              if (problem)
                                return self->close();
                              self->buffer_.commit(bytes);
                              self->read();
                            });
  }

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(parts_.limits.header_bytes));
    parser_->body_limit(parts_.limits.body_bytes);
    stream_.expires_after(parts_.limits.request);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code problem, size_t) {
                       if (problem)
                         self->cannot_read(problem);
                       else
                         self->serve();
                     });
  }

  void cannot_read(error_code problem) {
    if (problem == http::error::header_limit || problem == http::error::buffer_overflow)
      return refuse(refusal_of(
          431, concat("the headers are longer than ", parts_.limits.header_bytes, " bytes")));
    if (problem == http::error::body_limit)
      return refuse(
          refusal_of(413, concat("the body is longer than ", parts_.limits.body_bytes, " bytes")));
    if (problem == beast::error::timeout)
      return close();
    if (problem == http::error::end_of_stream || problem == http::error::partial_message ||
        problem.category() != http::make_error_code(http::error::bad_method).category())
      return close();
    refuse(refusal_of(400, concat("this is not an HTTP request: ", problem.message())));
  }

  void serve() {
    const auto& request = parser_->get();
    closes_after_response_ = !request.keep_alive();
    without_body_ = request.method() == http::verb::head;
    if (request.method() != http::verb::get && !without_body_)
      return send(refusal_of(405, "only GET and HEAD are served here"));
    auto host = request[http::field::host];
    if (parts_.only_loopback && !host.empty() && !names_loopback({host.data(), host.size()}))
      return send(
          refusal_of(421, "this port serves this machine only: use the host name localhost"));
    answering_ = true;
    auto number = ++request_number_;
    answer_timer_.expires_after(parts_.limits.answer);
    answer_timer_.async_wait([self = shared_from_this(), number](error_code problem) {
      if (!problem)
        self->answer(number, refusal_of(504, "the handler did not answer in time"));
    });
    std::weak_ptr<connection> weak_self = shared_from_this();
    auto reply = [weak_self = std::move(weak_self), weak_parts = parts_.weak_from_this(),
                  number](http_response response) {
      auto parts = weak_parts.lock();
      if (!parts)
        return;
      asio::post(parts->loop, [weak_self, number, response = std::move(response)]() mutable {
        if (auto self = weak_self.lock())
          self->answer(number, std::move(response));
      });
    };
    http_request handled{std::string{request.target()}};
    try {
      parts_.on_request(handled, std::move(reply));
    } catch (const std::exception& thrown) {
      answer(number, refusal_of(500, thrown.what()));
    }
  }

  void answer(uint64_t number, http_response response) {
    if (!answering_ || number != request_number_)
      return;
    answering_ = false;
    answer_timer_.cancel();
    send(std::move(response));
  }

  void send(http_response response) {
    auto fill = [&](auto& reply) {
      reply.result(response.status);
      reply.version(11);
      reply.set(http::field::content_type, response.type);
      reply.set(http::field::cache_control, "no-store");
      reply.set("X-Content-Type-Options", "nosniff");
      if (response.status == 405)
        reply.set(http::field::allow, "GET, HEAD");
      reply.keep_alive(!closes_after_response_);
    };
    auto write = [&](auto message) {
      stream_.expires_after(parts_.limits.response);
      http::async_write(stream_, *message,
                        [self = shared_from_this(), message](error_code problem, size_t) {
                          self->sent(problem);
                        });
    };
    if (without_body_) {
      auto reply = std::make_shared<http::response<http::empty_body>>();
      fill(*reply);
      reply->content_length(response.body.size());
      write(std::move(reply));
    } else {
      auto reply = std::make_shared<http::response<http::string_body>>();
      fill(*reply);
      reply->body() = std::move(response.body);
      reply->prepare_payload();
      write(std::move(reply));
    }
  }

  void sent(error_code problem) {
    if (problem)
      return close();
    if (!closes_after_response_)
      return await_request(parts_.limits.idle);
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(timeout_after_refusal);
    discard_input(0);
  }

  // A socket that is closed with unread input resets the connection, and the peer loses the answer.
  void discard_input(size_t so_far) {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this(), so_far](error_code problem, size_t more) {
                              if (problem || so_far + more > max_bytes_after_refusal)
                                self->close();
                              else
                                self->discard_input(so_far + more);
                            });
  }

  shared_parts& parts_;
  std::list<connection*>::iterator position_;
  beast::tcp_stream stream_;
  asio::steady_timer answer_timer_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  bool idle_ = false, closes_after_response_ = false, without_body_ = false, answering_ = false;
  uint64_t request_number_ = 0;
};

class running_server final : public http_server {
public:
  running_server(handler on_request, const http_limits& limits, bool only_loopback)
      : parts_(std::make_shared<shared_parts>(std::move(on_request), limits, only_loopback)),
        acceptor_(parts_->loop), pause_(parts_->loop) {}

  ~running_server() override {
    parts_->loop.stop();
    if (thread_.joinable())
      thread_.join();
  }

  status start(const address& endpoint) {
    TROUPE_ASSIGN(auto listening, listen_at(endpoint));
    port_ = listening.second;
    error_code problem;
    acceptor_.assign(endpoint.host.find(':') == std::string::npos ? tcp::v4() : tcp::v6(),
                     listening.first.get(), problem);
    if (problem)
      return failure(error_kind::unavailable, "cannot listen at ", to_string(endpoint), ": ",
                     problem.message());
    listening.first.release();
    accept();
    thread_ = std::thread{[this] { run(); }};
    return {};
  }

  uint16_t port() const noexcept override { return port_; }

private:
  // An exception of a handler, mostly for lack of memory, ends its connection only.
  void run() noexcept {
    for (;;) {
      try {
        parts_->loop.run();
        return;
      } catch (const std::exception&) {
      }
      if (!accepting_)
        accept_later();
    }
  }

  void accept() {
    accepting_ = true;
    acceptor_.async_accept([this](error_code problem, tcp::socket socket) {
      accepting_ = false;
      if (problem)
        return accept_later();
      admit(std::move(socket));
      accept();
    });
  }

  void accept_later() {
    pause_.expires_after(accept_pause);
    pause_.async_wait([this](error_code problem) {
      if (!problem)
        accept();
    });
  }

  void admit(tcp::socket socket) {
    auto& open = parts_->open;
    if (open.size() >= 2 * parts_->limits.connections) // closed without an answer
      return;
    bool full = open.size() >= parts_->limits.connections;
    if (full)
      for (auto* candidate : open)
        if (candidate->idle()) {
          candidate->close();
          full = false;
          break;
        }
    auto added = std::make_shared<connection>(*parts_, std::move(socket));
    if (full)
      added->refuse(refusal_of(503, concat("there are ", parts_->limits.connections,
                                           " connections already, which is the limit")));
    else
      added->begin();
  }

  const std::shared_ptr<shared_parts> parts_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  bool accepting_ = false;
  uint16_t port_ = 0;
  std::thread thread_;
};

} // namespace

result<std::unique_ptr<http_server>> http_server::start(const address& endpoint, handler on_request,
                                                        const http_limits& limits) {
  auto server =
      std::make_unique<running_server>(std::move(on_request), limits, is_loopback(endpoint.host));
  TROUPE_TRY(server->start(endpoint));
  return std::unique_ptr<http_server>{std::move(server)};
}

} // namespace troupe
