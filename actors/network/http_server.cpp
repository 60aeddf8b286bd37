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

// What a peer may still send that has been refused, so that it reads why.
constexpr size_t most_after_refusal = 256 * 1024;
constexpr std::chrono::seconds patience_after_refusal{1};
// Until the next try where a connection cannot be taken, for want of descriptors mostly.
constexpr std::chrono::milliseconds accept_pause{100};

http_response refused(unsigned status, std::string why) {
  return {.status = status, .body = std::move(why) + '\n'};
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

// What the connections of a server share. Lives as long as an answer may still come.
struct shared_parts : std::enable_shared_from_this<shared_parts> {
  shared_parts(http_server::handler what, const http_limits& bounds, bool loopback)
      : answers(std::move(what)), limits(bounds), only_loopback(loopback) {}
  http_server::handler answers;
  http_limits limits;
  bool only_loopback;
  std::list<connection*> open; // in the order in which they became idle
  asio::io_context loop{1};
};

class connection final : public std::enable_shared_from_this<connection> {
public:
  connection(shared_parts& of, tcp::socket socket)
      : parts_(of), stream_(std::move(socket)), late_(of.loop),
        buffer_(of.limits.header_bytes + of.limits.body_bytes + 1024) {
    place_ = parts_.open.insert(parts_.open.end(), this);
  }
  ~connection() { parts_.open.erase(place_); }

  void begin() { await_request(parts_.limits.request); }
  bool idle() const noexcept { return idle_; }
  void close() { stream_.close(); }

  void refuse(http_response why) {
    last_ = true;
    send(std::move(why));
  }

private:
  // The time for a request begins with its first byte.
  void await_request(std::chrono::milliseconds patience) {
    if (buffer_.size() > 0)
      return read();
    idle_ = true;
    parts_.open.splice(parts_.open.end(), parts_.open, place_);
    stream_.expires_after(patience);
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
      return refuse(refused(
          431, concat("the headers are longer than ", parts_.limits.header_bytes, " bytes")));
    if (problem == http::error::body_limit)
      return refuse(
          refused(413, concat("the body is longer than ", parts_.limits.body_bytes, " bytes")));
    if (problem == beast::error::timeout)
      return close();
    if (problem == http::error::end_of_stream || problem == http::error::partial_message ||
        problem.category() != http::make_error_code(http::error::bad_method).category())
      return close();
    refuse(refused(400, concat("this is no HTTP request: ", problem.message())));
  }

  void serve() {
    const auto& request = parser_->get();
    last_ = !request.keep_alive();
    without_body_ = request.method() == http::verb::head;
    if (request.method() != http::verb::get && !without_body_)
      return send(refused(405, "only GET and HEAD are served here"));
    auto host = request[http::field::host];
    if (parts_.only_loopback && !host.empty() && !names_loopback({host.data(), host.size()}))
      return send(refused(421, "this port serves its own machine: name it localhost"));
    answering_ = true;
    auto number = ++asked_;
    late_.expires_after(parts_.limits.answer);
    late_.async_wait([self = shared_from_this(), number](error_code problem) {
      if (!problem)
        self->answer(number, refused(504, "there was no answer in time"));
    });
    std::weak_ptr<connection> to = shared_from_this();
    auto reply = [to = std::move(to), keep = parts_.weak_from_this(), number](http_response what) {
      auto parts = keep.lock();
      if (!parts)
        return;
      asio::post(parts->loop, [to, number, what = std::move(what)]() mutable {
        if (auto self = to.lock())
          self->answer(number, std::move(what));
      });
    };
    http_request asked{std::string{request.target()}};
    try {
      parts_.answers(asked, std::move(reply));
    } catch (const std::exception& thrown) {
      answer(number, refused(500, thrown.what()));
    }
  }

  void answer(uint64_t number, http_response what) {
    if (!answering_ || number != asked_)
      return;
    answering_ = false;
    late_.cancel();
    send(std::move(what));
  }

  void send(http_response what) {
    auto fill = [&](auto& made) {
      made.result(what.status);
      made.version(11);
      made.set(http::field::content_type, what.type);
      made.set(http::field::cache_control, "no-store");
      made.set("X-Content-Type-Options", "nosniff");
      if (what.status == 405)
        made.set(http::field::allow, "GET, HEAD");
      made.keep_alive(!last_);
    };
    auto write = [&](auto message) {
      stream_.expires_after(parts_.limits.response);
      http::async_write(stream_, *message,
                        [self = shared_from_this(), message](error_code problem, size_t) {
                          self->sent(problem);
                        });
    };
    if (without_body_) {
      auto made = std::make_shared<http::response<http::empty_body>>();
      fill(*made);
      made->content_length(what.body.size());
      write(std::move(made));
    } else {
      auto made = std::make_shared<http::response<http::string_body>>();
      fill(*made);
      made->body() = std::move(what.body);
      made->prepare_payload();
      write(std::move(made));
    }
  }

  void sent(error_code problem) {
    if (problem)
      return close();
    if (!last_)
      return await_request(parts_.limits.idle);
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(patience_after_refusal);
    drop_rest(0);
  }

  // A socket that is closed while there is something to read takes back what was sent.
  void drop_rest(size_t so_far) {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this(), so_far](error_code problem, size_t more) {
                              if (problem || so_far + more > most_after_refusal)
                                self->close();
                              else
                                self->drop_rest(so_far + more);
                            });
  }

  shared_parts& parts_;
  std::list<connection*>::iterator place_;
  beast::tcp_stream stream_;
  asio::steady_timer late_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  bool idle_ = false, last_ = false, without_body_ = false, answering_ = false;
  uint64_t asked_ = 0;
};

class running_server final : public http_server {
public:
  running_server(handler answers, const http_limits& limits, bool only_loopback)
      : parts_(std::make_shared<shared_parts>(std::move(answers), limits, only_loopback)),
        acceptor_(parts_->loop), pause_(parts_->loop) {}

  ~running_server() override {
    parts_->loop.stop();
    if (thread_.joinable())
      thread_.join();
  }

  status start(const address& at) {
    TROUPE_ASSIGN(auto listening, listen_at(at));
    port_ = listening.second;
    error_code problem;
    acceptor_.assign(at.host.find(':') == std::string::npos ? tcp::v4() : tcp::v6(),
                     listening.first.get(), problem);
    if (problem)
      return failure(error_kind::unavailable, "cannot listen at ", to_string(at), ": ",
                     problem.message());
    listening.first.release();
    accept();
    thread_ = std::thread{[this] { run(); }};
    return {};
  }

  uint16_t port() const noexcept override { return port_; }

private:
  // What a handler throws (memory is short) costs its connection.
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
      take(std::move(socket));
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

  void take(tcp::socket socket) {
    auto& open = parts_->open;
    if (open.size() >= 2 * parts_->limits.connections) // not even to be told why
      return;
    bool full = open.size() >= parts_->limits.connections;
    if (full)
      for (auto* one : open)
        if (one->idle()) {
          one->close();
          full = false;
          break;
        }
    auto made = std::make_shared<connection>(*parts_, std::move(socket));
    if (full)
      made->refuse(refused(503, concat("there are ", parts_->limits.connections,
                                       " connections already, as many as may be")));
    else
      made->begin();
  }

  const std::shared_ptr<shared_parts> parts_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  bool accepting_ = false;
  uint16_t port_ = 0;
  std::thread thread_;
};

} // namespace

result<std::unique_ptr<http_server>> http_server::start(const address& at, handler answers,
                                                        const http_limits& limits) {
  auto made = std::make_unique<running_server>(std::move(answers), limits, is_loopback(at.host));
  TROUPE_TRY(made->start(at));
  return std::unique_ptr<http_server>{std::move(made)};
}

} // namespace troupe
