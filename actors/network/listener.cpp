// Accepts connections, up to a limit.
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/rare_warnings.hpp"
#include "troupe/actors/execution/byte_stream.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/network/exchange.hpp"
#include "troupe/actors/network/pending_handshakes.hpp"
#include "troupe/actors/network/sockets.hpp"
#include "troupe/actors/task/step_server.hpp"

#include <caf/default_attachable.hpp>
#include <caf/send.hpp>
#include <caf/system_messages.hpp>

#include <mutex>
#include <set>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace troupe {
namespace {

constexpr size_t spare_descriptors = 64; // for other files of the process
constexpr int max_accepted_at_once = 64;
constexpr std::chrono::milliseconds max_handshake_time{10'000};

// Returns the number of descriptors that connections may use.
size_t allowed_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= 2 * spare_descriptors)
    return spare_descriptors;
  return static_cast<size_t>(limit.rlim_cur) - spare_descriptors;
}

// Returns how many of these may be of peers that have not proven their identity.
size_t max_pending() { return std::min<size_t>(256, allowed_connections() / 4); }

// Logs a refusal; warns if there is no log.
void report_refused(const std::shared_ptr<step_server>& server,
                    const std::function<void(const std::string&)>& warn, const std::string& peer,
                    const status& why) {
  if (server && server->log())
    server->log().write(log_level::warning, "peer_refused",
                        {{"peer", peer}, {"called", false}, {"why", why.message()}});
  else if (warn)
    warn(concat("a connection from ", peer, " was refused: ", why.message()));
}

class listener_actor final : public inline_actor, public socket_handler {
public:
  listener_actor(caf::actor_config& config, int socket, exchange_options options)
      : inline_actor(config), socket_(socket), options_(std::move(options)),
        max_connections_(options_.max_connections ? options_.max_connections
                                                  : allowed_connections() - max_pending()) {}

  const char* name() const override { return "troupe.listener"; }

  status start() {
    register_at_system();
    options_.on_warning = limit_to_one_per_second(std::move(options_.on_warning));
    pending_ = pending_handshakes::make(
        loop_,
        {.tls = options_.tls,
         .access = options_.access_control,
         .max_connections = max_pending(),
         .timeout = std::min(options_.peer_timeout, max_handshake_time),
         .on_ready = [this, kept = handle()](
                         std::unique_ptr<byte_stream> stream) { admit_or_drop(std::move(stream)); },
         .on_refused = [server = options_.server, warn = options_.on_warning](
                           const std::string& peer,
                           const status& why) { report_refused(server, warn, peer, why); }});
    auto watched =
        loop_->add(socket_, *this, options_.peer_timeout, std::make_shared<caf::actor>(handle()));
    if (watched.ok())
      return {};
    shut_down();
    return std::move(watched).with_context(concat("listening at ", options_.address));
  }

  // -- on the loop's thread

  size_t ready(bool, bool, std::span<std::byte>) override {
    for (int i = 0; i < max_accepted_at_once; ++i) {
      auto socket = accept_connection(socket_);
      if (socket < 0 && (errno == EMFILE || errno == ENFILE))
        drop_without_descriptor();
      else if (socket < 0 && (errno == EAGAIN || errno != EINTR))
        break;
      else if (socket >= 0)
        add_or_drop(socket);
    }
    return 0;
  }

  void tick(std::chrono::steady_clock::time_point) override {}

  void removed() override {
    ::close(socket_);
    if (spare_descriptor_ >= 0)
      ::close(spare_descriptor_);
    options_.owner = nullptr;
    pending_ = nullptr;
    cleanup(caf::exit_reason::user_shutdown, nullptr);
    unregister_from_system();
  }

protected:
  bool receive(caf::mailbox_element& message, caf::execution_unit*) override {
    if (auto* down = content_if<caf::down_msg>(message)) {
      std::lock_guard guard{mutex_};
      exchanges_.erase(down->source);
    } else if (content_if<caf::exit_msg>(message)) {
      shut_down();
    } else {
      return false;
    }
    return true;
  }

private:
  caf::actor handle() { return caf::actor_cast<caf::actor>(static_cast<abstract_actor*>(this)); }

  // If memory is short, a new connection is dropped, and the task goes on.
  void add_or_drop(int socket) noexcept {
    auto stream = std::unique_ptr<byte_stream>{};
    try {
      stream = make_socket_stream(socket);
    } catch (const std::exception&) {
      ::close(socket);
      return;
    }
    try {
      pending_->add(std::move(stream));
    } catch (const std::exception&) {
    }
  }

  void admit_or_drop(std::unique_ptr<byte_stream> stream) noexcept {
    try {
      admit(std::move(stream));
    } catch (const std::exception&) { // the stream is closed by its owner
    }
  }

  void admit(std::unique_ptr<byte_stream> stream) {
    size_t open = 0;
    {
      std::lock_guard guard{mutex_};
      if (is_shut_down_)
        return;
      open = exchanges_.size();
    }
    if (open >= max_connections_)
      return refuse(*stream, open);
    auto exchange = spawn_exchange(home_system(), std::move(stream), options_);
    {
      std::lock_guard guard{mutex_};
      exchanges_.insert(exchange.address());
    }
    caf::actor_cast<caf::abstract_actor*>(exchange)->attach(
        caf::default_attachable::make_monitor(exchange.address(), address()));
  }

  // Sends the reason, as far as the socket accepts it at once.
  void refuse(byte_stream& stream, size_t open) {
    if (options_.server)
      options_.server->log().write(
          log_level::warning, "connection_refused",
          {{"open", static_cast<int64_t>(open)}, {"most", static_cast<int64_t>(max_connections_)}});
    auto why = refusal_frame(failure(error_kind::resource_exhausted,
                                     task_name{options_.self.job, options_.self.task}, " has ",
                                     open, " connections already, which is the limit"));
    iovec place{why.data(), why.size()};
    [[maybe_unused]] auto sent = stream.write({&place, 1});
    stream.shut_down_writing();
    stream.drop_input();
  }

  // Without a free descriptor, a connection can neither be accepted nor closed, and would be
  // reported again and again. A spare descriptor is kept for that.
  void drop_without_descriptor() {
    if (spare_descriptor_ >= 0)
      ::close(spare_descriptor_);
    if (auto socket = accept_connection(socket_); socket >= 0)
      ::close(socket);
    spare_descriptor_ = open_spare();
  }

  void shut_down() {
    decltype(exchanges_) exchanges;
    {
      std::lock_guard guard{mutex_};
      if (std::exchange(is_shut_down_, true))
        return;
      exchanges = exchanges_;
    }
    for (const auto& address : exchanges)
      if (auto actor = caf::actor_cast<caf::actor>(address))
        caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    pending_->close();
    loop_->remove(socket_);
  }

  static int open_spare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

  const int socket_;
  exchange_options options_;
  // A separate loop, so that running steps do not wait for peers that have not proven their
  // identity.
  const std::shared_ptr<io_loop> loop_ = io_loop::own(home_system());
  const size_t max_connections_;
  int spare_descriptor_ = open_spare();
  std::mutex mutex_; // guards the members below
  std::set<caf::actor_addr> exchanges_;
  bool is_shut_down_ = false;
  std::shared_ptr<pending_handshakes> pending_; // of peers that must prove their identity
};

} // namespace

result<caf::actor> spawn_listener(caf::actor_system& system, int socket, exchange_options options) {
  if (!options.loop)
    options.loop = io_loop::of(system);
  auto [handle, actor] = spawn_inline<listener_actor>(system, socket, std::move(options));
  TROUPE_TRY(actor->start());
  return std::move(handle);
}

} // namespace troupe
