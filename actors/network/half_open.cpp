#include "troupe/actors/network/half_open.hpp"

#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/network/access_control.hpp"
#include "troupe/actors/network/tls_stream.hpp"
#include "troupe/serialization/tls/tls.hpp"
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <optional>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;

// As the link has it: until a peer has introduced itself.
constexpr size_t longest_hello = 4096;

// "10.0.0.7:41234"
std::string address_of_peer(int socket) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  char text[INET6_ADDRSTRLEN] = "an unknown address";
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    return text;
  if (at.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(at);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return concat(text, ':', ntohs(v4.sin_port));
  }
  if (at.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(at);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return concat('[', text, "]:", ntohs(v6.sin6_port));
  }
  return text;
}

bool begins_as_frame(std::span<const std::byte> bytes) {
  for (size_t i = 0; i < std::min(bytes.size(), sizeof frame_magic); ++i)
    if (bytes[i] != static_cast<std::byte>(frame_magic >> (8 * i)))
      return false;
  return true;
}

class waiting_connections;

// One that has come.
class waiting_connection final : public socket_handler {
public:
  waiting_connection(std::shared_ptr<waiting_connections> of, std::unique_ptr<byte_stream> stream)
      : of_(std::move(of)), id_(stream->id()), peer_(address_of_peer(id_)),
        plain_(std::move(stream)) {}

  int id() const noexcept { return id_; }
  std::string_view host() const noexcept {
    return std::string_view{peer_}.substr(0, peer_.rfind(':'));
  }
  size_t ready(bool readable, bool writable, std::span<std::byte> scratch) override;
  void tick(clock::time_point now) override;
  void removed() override;
  void drop(const status& why);

  // The owner's:
  std::list<std::shared_ptr<waiting_connection>>::iterator place;
  bool listed = false;

private:
  result<handshake_state> go_on(std::span<std::byte> scratch);
  result<handshake_state> wait_for_hello(std::span<std::byte> scratch);
  result<handshake_state> wait_for_token(std::span<std::byte> scratch);
  result<std::span<const std::byte>> look(std::span<std::byte> scratch);
  byte_stream& stream() { return tls_ ? *tls_ : *plain_; }

  const std::shared_ptr<waiting_connections> of_;
  const int id_;
  const std::string peer_;             // its address, which the system forgets when it has gone
  std::unique_ptr<byte_stream> plain_; // until its first bytes have come
  std::unique_ptr<tls_stream> tls_;
  size_t wanted_ = 0;           // bytes of a hello
  bool shaken_ = false;         // over TLS
  std::vector<std::byte> said_; // over TLS, by a peer without a certificate
  bool over_ = false, passes_ = false, wants_writable_ = false;
};

class waiting_connections final : public half_open_connections,
                                  public std::enable_shared_from_this<waiting_connections> {
public:
  waiting_connections(std::shared_ptr<io_loop> loop, half_open_options options)
      : loop_(std::move(loop)), options_(std::move(options)) {}

  void add(std::unique_ptr<byte_stream> stream) override {
    auto made = std::make_shared<waiting_connection>(shared_from_this(), std::move(stream));
    std::shared_ptr<waiting_connection> oldest;
    {
      std::lock_guard guard{mutex_};
      if (closed_)
        return;
      if (all_.size() >= options_.max)
        oldest = oldest_of_the_most();
      made->place = all_.insert(all_.end(), made);
      made->listed = true;
    }
    if (oldest)
      oldest->drop(failure(error_kind::resource_exhausted, "it was the oldest of ", options_.max,
                           " connections that had not proven who they are"));
    try {
      if (auto watched = loop_->add(made->id(), *made, options_.patience, made); !watched)
        made->drop(watched);
    } catch (const std::exception&) {
      leave(*made);
      throw;
    }
  }

  void close() override {
    std::function<void(std::unique_ptr<byte_stream>)> last; // goes when the lock is free
    std::lock_guard guard{mutex_};
    closed_ = true;
    last.swap(options_.on_ready);
    for (const auto& one : all_)
      loop_->remove(one->id());
  }

  size_t size() const override {
    std::lock_guard guard{mutex_};
    return all_.size();
  }

  // -- of one of them

  io_loop& loop() { return *loop_; }
  const half_open_options& options() const { return options_; }

  // It counts no more; the loop keeps it until it has forgotten it.
  void leave(waiting_connection& which) {
    std::lock_guard guard{mutex_};
    if (std::exchange(which.listed, false))
      all_.erase(which.place);
  }

  void pass(std::unique_ptr<byte_stream> stream) {
    std::function<void(std::unique_ptr<byte_stream>)> take;
    {
      std::lock_guard guard{mutex_};
      take = options_.on_ready;
    }
    if (take)
      take(std::move(stream));
  }

  void tell_refused(const std::string& peer, const status& why) {
    if (options_.on_refused)
      options_.on_refused(peer, why);
  }

private:
  // Of the machine that has most: one that calls again and again does not drive out others. With
  // the lock held.
  std::shared_ptr<waiting_connection> oldest_of_the_most() {
    std::map<std::string_view, size_t> counts;
    for (const auto& one : all_)
      ++counts[one->host()];
    auto most = std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
    return *std::ranges::find(all_, most->first, [](const auto& one) { return one->host(); });
  }

  const std::shared_ptr<io_loop> loop_;
  half_open_options options_;
  mutable std::mutex mutex_; // of what follows, and of options_.on_ready
  std::list<std::shared_ptr<waiting_connection>> all_;
  bool closed_ = false;
};

// How many bytes of a hello there must be before it can be read, or refused: most callers send it
// at once. 0: there are enough.
size_t missing_of_hello(std::span<const std::byte> come) {
  constexpr size_t size_at = 8;
  auto enough = [&](size_t all) { return come.size() < all ? all : 0; };
  if (auto needed = enough(frame_header_bytes))
    return needed;
  uint32_t size = 0;
  for (size_t i = 0; i < sizeof size; ++i)
    size |= std::to_integer<uint32_t>(come[size_at + i]) << (8 * i);
  return size > longest_hello ? 0 : enough(frame_header_bytes + size);
}

// The other end writes no more.
bool has_ended(int socket) {
  pollfd look{socket, POLLRDHUP, 0};
  return ::poll(&look, 1, 0) != 0;
}

// What lies in the socket, which stays there.
result<std::span<const std::byte>> waiting_connection::look(std::span<std::byte> scratch) {
  auto came = ::recv(id_, scratch.data(), scratch.size(), MSG_PEEK | MSG_DONTWAIT);
  if (came == 0)
    return failure(error_kind::unavailable, "it closed the connection");
  if (came < 0 && errno != EAGAIN && errno != EINTR)
    return failure(error_kind::unavailable, std::strerror(errno));
  return std::span<const std::byte>{scratch.data(),
                                    static_cast<size_t>(std::max<ssize_t>(came, 0))};
}

// Without TLS: until the hello has come as a whole, nothing is made of it.
result<handshake_state> waiting_connection::wait_for_hello(std::span<std::byte> scratch) {
  TROUPE_ASSIGN(auto come, look(scratch.first(frame_header_bytes + longest_hello)));
  if (begins_as_tls(come)) {
    // "protocol version", fatal: a record of TLS, as the caller expects one.
    std::array<unsigned char, 7> alert{0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46};
    iovec place{alert.data(), alert.size()};
    [[maybe_unused]] auto sent = plain_->write({&place, 1});
    return failure(error_kind::failed_precondition, "it wants TLS, which this task was not given");
  }
  if (!begins_as_frame(come))
    return failure(error_kind::invalid_argument, "it does not speak Troupe's protocol");
  auto needed = missing_of_hello(come);
  // The system wakes us again when there are so many, or no more to come; or sooner, where its
  // memory is short.
  if (needed > 0 && needed == wanted_ && has_ended(id_))
    return failure(error_kind::unavailable, "it ended before its hello");
  wanted_ = needed;
  int low = static_cast<int>(std::max<size_t>(needed, 1));
  ::setsockopt(id_, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof low);
  return needed > 0 ? handshake_state::needs_input : handshake_state::done;
}

struct hello_sink final : frame_sink {
  status on_message(std::span<const std::byte> body, uint64_t) override {
    TROUPE_ASSIGN(auto what, decode(body));
    if (auto* one = std::get_if<hello>(&what))
      found = std::move(*one);
    return {};
  }
  result<std::byte*> chunk_target(uint64_t, size_t) override { return invalid("no chunk"); }
  status on_chunk(uint64_t, size_t) override { return {}; }
  std::optional<hello> found;
};

// The hello in a frame that is there as a whole.
result<hello> read_hello(std::span<const std::byte> bytes) {
  hello_sink sink;
  frame_reader reader{longest_hello};
  TROUPE_TRY(reader.feed(bytes, sink));
  if (!sink.found)
    return invalid("the peer's first message must be hello");
  return *std::move(sink.found);
}

// Over TLS without a certificate: whoever it is says so in its hello, of which nothing is made
// before. What follows it stays in the stream.
result<handshake_state> waiting_connection::wait_for_token(std::span<std::byte> scratch) {
  while (auto needed = missing_of_hello(said_)) {
    iovec place{scratch.data(), std::min(scratch.size(), needed - said_.size())};
    auto came = tls_->read({&place, 1});
    if (came < 0 && errno == EINTR)
      continue;
    if (came < 0 && errno == EAGAIN)
      return handshake_state::needs_input;
    if (came == 0)
      return failure(error_kind::unavailable, "it ended before its hello");
    if (came < 0)
      return tls_->why_failed(errno);
    said_.insert(said_.end(), scratch.begin(), scratch.begin() + came);
    if (!begins_as_frame(said_))
      return failure(error_kind::invalid_argument, "it does not speak Troupe's protocol");
  }
  auto who = read_hello(said_);
  auto fine = who ? of_->options().access->check_token(*who) : who.status();
  if (fine)
    return handshake_state::done;
  auto bytes = refusal_frame(fine);
  iovec place{bytes.data(), bytes.size()};
  [[maybe_unused]] auto sent = tls_->write({&place, 1});
  return fine;
}

result<handshake_state> waiting_connection::go_on(std::span<std::byte> scratch) {
  const auto& options = of_->options();
  if (!options.tls)
    return wait_for_hello(scratch);
  if (!tls_) {
    TROUPE_ASSIGN(auto come, look(scratch.first(sizeof frame_magic)));
    if (come.empty())
      return handshake_state::needs_input;
    if (begins_as_frame(come)) {
      auto bytes = refusal_frame(failure(error_kind::failed_precondition,
                                         "connections to this task are over TLS; give a "
                                         "certificate, a key and an authority"));
      iovec place{bytes.data(), bytes.size()};
      [[maybe_unused]] auto sent = plain_->write({&place, 1});
      return failure(error_kind::failed_precondition, "it speaks without TLS");
    }
    tls_ = answer_over_tls(std::move(plain_), options.tls,
                           options.access && options.access->takes_tokens());
  }
  if (!shaken_) {
    TROUPE_ASSIGN(auto state, tls_->shake_hands());
    if (state != handshake_state::done)
      return state;
    shaken_ = true;
  }
  const auto* proven = tls_->names();
  return proven && !proven->empty() ? handshake_state::done : wait_for_token(scratch);
}

size_t waiting_connection::ready(bool, bool, std::span<std::byte> scratch) {
  if (over_)
    return 0;
  result<handshake_state> state = handshake_state::needs_input;
  try {
    state = go_on(scratch);
  } catch (const std::exception& thrown) {
    state = failure(error_kind::resource_exhausted, thrown.what());
  }
  if (!state) {
    drop(state.status());
  } else if (*state == handshake_state::done) {
    over_ = passes_ = true;
    of_->leave(*this);
    of_->loop().remove(id_);
  } else if (auto wants = *state == handshake_state::needs_output; wants != wants_writable_) {
    wants_writable_ = wants;
    of_->loop().want_writable(id_, wants);
  }
  return 0;
}

void waiting_connection::tick(clock::time_point) {
  drop(failure(error_kind::deadline_exceeded, "it has not proven who it is within ",
               of_->options().patience.count(), " ms"));
}

void waiting_connection::drop(const status& why) {
  if (std::exchange(over_, true))
    return;
  of_->leave(*this);
  of_->tell_refused(peer_, why);
  stream().end_writing();
  of_->loop().remove(id_);
}

// The loop has forgotten it: another one may watch it now.
void waiting_connection::removed() {
  of_->leave(*this);
  if (passes_)
    return !tls_           ? of_->pass(std::move(plain_))
           : said_.empty() ? of_->pass(std::move(tls_))
                           : of_->pass(make_replayed_stream(std::move(said_), std::move(tls_)));
  stream().drop_input(); // what was not read would make the other end lose what was written
  plain_.reset();
  tls_.reset();
}

} // namespace

std::shared_ptr<half_open_connections> half_open_connections::make(std::shared_ptr<io_loop> loop,
                                                                   half_open_options options) {
  return std::make_shared<waiting_connections>(std::move(loop), std::move(options));
}

std::vector<std::byte> refusal_frame(const status& why) {
  std::vector<std::byte> all;
  if (auto body = encode(refusal{why})) {
    auto header = header_for(frame_kind::message, 0, body->bytes);
    all.assign(header.begin(), header.end());
    all.insert(all.end(), body->bytes.begin(), body->bytes.end());
  }
  return all;
}

} // namespace troupe
