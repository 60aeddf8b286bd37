// Thousands of peers that connect to a task and do not introduce themselves, or not in time.
#include "tests/support/catch.hpp"
#include "tests/support/plain_socket.hpp"
#include "tests/support/secure_cluster.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/execution/byte_stream.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/pending_handshakes.hpp"
#include "troupe/actors/network/tls_stream.hpp"
#include "troupe/serialization/tls/tls.hpp"
#include "troupe/serialization/tls/token.hpp"
#include "troupe/serialization/wire/link.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::test::pending_handshakes_test {

using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

constexpr int max_pending = 256, at_once = 64;

link_options a_client() {
  link_options options;
  options.self = {.software = "test", .role = "client", .job = {}, .incarnation = 5};
  return options;
}

// A task's answer to a hello: ok if the task introduces itself, as it does to each accepted peer.
status answer_at(int descriptor) {
  bool introduced = false;
  troupe::link peer{a_client(), {.on_hello = [&](const hello& peer_hello) {
                      introduced = peer_hello.job == "worker";
                      return status{};
                    }}};
  while (!introduced) {
    pollfd wait{descriptor, POLLIN, 0};
    if (::poll(&wait, 1, 10'000 * timeout_factor()) != 1)
      return failure(error_kind::deadline_exceeded, "nothing was answered");
    std::array<char, 4096> bytes{};
    auto received = ::recv(descriptor, bytes.data(), bytes.size(), 0);
    if (received <= 0)
      return failure(error_kind::unavailable, "it was closed");
    TROUPE_TRY(peer.receive(std::as_bytes(std::span{bytes}.first(static_cast<size_t>(received)))));
  }
  return {};
}

std::string greeting() {
  troupe::link peer{a_client(), {}};
  std::vector<char> bytes;
  peer.fill(bytes, 1 << 20);
  return {bytes.begin(), bytes.end()};
}

// The beginning of a TLS handshake, which announces 512 bytes.
const std::string tls_begin{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11};

// Connects from another address of loopback, as another machine does.
int connect_from(const char* source, uint16_t port) {
  auto descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in socket_address{};
  socket_address.sin_family = AF_INET;
  ::inet_pton(AF_INET, source, &socket_address.sin_addr);
  REQUIRE(::bind(descriptor, reinterpret_cast<sockaddr*>(&socket_address), sizeof socket_address) ==
          0);
  socket_address.sin_port = htons(port);
  socket_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(descriptor, reinterpret_cast<sockaddr*>(&socket_address),
                    sizeof socket_address) == 0);
  return descriptor;
}

bool is_closed(int descriptor) {
  char byte = 0;
  auto received = ::recv(descriptor, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  return received == 0 || (received < 0 && errno != EAGAIN);
}

// The number of connections that this process may open beside its other descriptors.
size_t allowed(size_t count) {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  return std::min<size_t>(count, limit.rlim_cur - 2 * max_pending - 200);
}

// The number of descriptors of this process that belong to its tasks.
int descriptors_beside(size_t own_descriptors) {
  return footprint_of(::getpid()).descriptors - static_cast<int>(own_descriptors);
}

// Opens that many connections, each of which sends the first bytes and then nothing.
void check_alive_during_connections(uint16_t port, size_t count, const std::string& first,
                                    const std::function<bool()>& is_alive) {
  REQUIRE(is_alive());
  auto before = footprint_of(::getpid());
  {
    std::vector<plain_connection> connections;
    for (size_t i = 0; i < count; ++i) {
      connections.emplace_back(port);
      // It may have been closed already.
      if (!first.empty())
        connections.back().write(first);
      if (i % 1000 == 999)
        CHECK(is_alive());
    }
    auto bound = before.descriptors + max_pending + at_once + 16;
    for (auto end = clock_type::now() + 10s;
         descriptors_beside(count) > bound && clock_type::now() < end;)
      std::this_thread::sleep_for(10ms);
    CHECK(descriptors_beside(count) <= bound);
    CHECK(footprint_of(::getpid()).threads <= before.threads + 2);
    if (size_is_telling)
      CHECK(footprint_of(::getpid()).resident_kib - before.resident_kib < 64 * 1024);
    CHECK(is_alive());
  }
  for (auto end = clock_type::now() + 10s;
       descriptors_beside(0) > before.descriptors + 4 && clock_type::now() < end;)
    std::this_thread::sleep_for(10ms);
  CHECK(descriptors_beside(0) <= before.descriptors + 4);
  CHECK(is_alive());
}

void check_with_and_without_tls(size_t count) {
  {
    auto cluster = make_cluster(1);
    auto plain = start_task(cluster, {"worker", 0});
    auto is_alive = [&] { return run_all(*connect_to(cluster), text_case{small_text}).empty(); };
    check_alive_during_connections(plain->port(), count, "", is_alive);
    check_alive_during_connections(plain->port(), count, greeting().substr(0, 40), is_alive);
  }
  secure_cluster cluster{1};
  check_alive_during_connections(cluster.port(), count, "", [&] { return cluster.runs_steps(); });
  check_alive_during_connections(cluster.port(), count, tls_begin,
                                 [&] { return cluster.runs_steps(); });
}

} // namespace

TEST_CASE("a task with a thousand pending handshakes still serves others, with few descriptors") {
  watchdog watch;
  check_with_and_without_tls(allowed(1000));
}

TEST_CASE("a task with ten thousand pending handshakes still serves others", "[slow]") {
  watchdog watch{300s};
  check_with_and_without_tls(allowed(10'000));
}

TEST_CASE(
    "a client without a certificate stays in its handshake, and gets no message before its token "
    "arrives") {
  watchdog watch;
  auto token = new_token();
  secure_cluster cluster{concat(R"({"clients": {"alice": {"may": ["register", "run"]}},
      "tokens": {"ci": {"sha256": ")",
                                digest_of_token(token), R"(", "may": ["register", "run"]}}})")};
  auto is_alive = [&] {
    return cluster.runs_steps() &&
           run_all(*cluster.connect(cluster.authority.token(token)), text_case{small_text}).empty();
  };
  REQUIRE(is_alive());
  auto identity = tls_identity::load({.files = cluster.authority.token(new_token())});
  REQUIRE(identity);
  auto before = footprint_of(::getpid()).descriptors;
  std::atomic<bool> stop{false};
  std::vector<std::unique_ptr<byte_stream>> silent_streams;
  for (size_t i = 0, count = allowed(500); i < count; ++i) {
    auto dialed_stream = dial_over_tls({"127.0.0.1", cluster.port()}, *identity,
                                       task_name{"worker", 0}, step_clock::now() + 10s, stop);
    INFO(dialed_stream.status());
    REQUIRE(dialed_stream);
    silent_streams.push_back(*std::move(dialed_stream));
  }
  auto bound = before + max_pending + at_once + 16;
  for (auto end = clock_type::now() + 10s;
       descriptors_beside(silent_streams.size()) > bound && clock_type::now() < end;)
    std::this_thread::sleep_for(10ms);
  CHECK(descriptors_beside(silent_streams.size()) <= bound);
  CHECK(is_alive());
  for (const auto& stream : silent_streams) {
    char bytes[64];
    iovec buffer{bytes, sizeof bytes};
    CHECK(stream->read({&buffer, 1}) <= 0);
  }
}

TEST_CASE("a hello with a token is read in any portions") {
  watchdog watch;
  auto token = new_token();
  secure_cluster cluster{concat(R"({"tokens": {"ci": {"sha256": ")", digest_of_token(token),
                                R"(", "may": ["register", "run"]}}})")};
  auto identity = tls_identity::load({.files = cluster.authority.token(token)});
  REQUIRE(identity);
  std::atomic<bool> stop{false};
  // Sends a hello in two parts and returns the answer: the task's own hello, or a refusal.
  auto answer_to = [&](const std::string& shown_bytes, size_t split) {
    auto dialed_stream = dial_over_tls({"127.0.0.1", cluster.port()}, *identity,
                                       task_name{"worker", 0}, step_clock::now() + 10s, stop);
    REQUIRE(dialed_stream);
    auto options = a_client();
    options.self.access_token = shown_bytes;
    troupe::link peer{options, {}};
    std::vector<char> bytes;
    peer.fill(bytes, 1 << 20);
    for (auto part : {std::span{bytes}.first(split), std::span{bytes}.subspan(split)}) {
      iovec buffer{part.data(), part.size()};
      REQUIRE((*dialed_stream)->write({&buffer, 1}) == static_cast<ssize_t>(part.size()));
      std::this_thread::sleep_for(2ms); // mostly, the two parts arrive separately
    }
    std::string received_text(4096, ' ');
    iovec buffer{received_text.data(), received_text.size()};
    ssize_t size = -1;
    for (auto end = clock_type::now() + 10s; size < 0 && clock_type::now() < end;)
      size = (*dialed_stream)->read({&buffer, 1});
    received_text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
    return received_text;
  };
  for (size_t split : {1, 31, 32, 33, 100})
    CHECK(answer_to(token, split).find("worker") != std::string::npos);
  CHECK(answer_to(new_token(), 40).find("not on the access list") != std::string::npos);
  CHECK(answer_to("", 40).find("neither a certificate nor a token") != std::string::npos);
}

TEST_CASE("a client that sends single bytes slowly has no more time than others") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto plain = start_task(cluster, {"worker", 0}, 500ms);
  auto hello = greeting();
  std::vector<plain_connection> slow;
  for (int i = 0; i < 100; ++i)
    slow.emplace_back(plain->port());
  auto begin = clock_type::now();
  size_t answered = 0;
  auto open = [&] {
    return std::ranges::count_if(
        slow, [](auto& connection) { return !is_closed(connection.descriptor()); });
  };
  while (open() > 0 && answered + 1 < hello.size()) {
    for (auto& connection : slow)
      connection.write(hello.substr(answered, 1));
    ++answered;
    std::this_thread::sleep_for(20ms);
  }
  CHECK(open() == 0);
  CHECK(clock_type::now() - begin < 6s * timeout_factor());
}

TEST_CASE("a machine that connects repeatedly does not displace the connections of others") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto plain = start_task(cluster, {"worker", 0});
  auto hello = greeting();
  plain_connection connection{connect_from("127.0.0.2", plain->port())};
  REQUIRE(connection.write(hello.substr(0, 20)));
  std::vector<plain_connection> connections;
  for (int i = 0; i < 2 * max_pending; ++i)
    connections.emplace_back(plain->port());
  pollfd wait{connections[0].descriptor(), POLLIN, 0};
  REQUIRE(::poll(&wait, 1, 5000) == 1); // the first of the connections was closed
  REQUIRE(connection.write(hello.substr(20)));
  auto answer = answer_at(connection.descriptor());
  INFO(answer);
  CHECK(answer.ok());
}

// A loop that the test wakes.
struct woken_loop final : io_loop {
  status add(int, socket_handler& added_handler, std::chrono::milliseconds,
             std::shared_ptr<void> keep) override {
    handler = &added_handler;
    kept_handler = std::move(keep);
    return {};
  }
  void want_writable(int, bool) override {}
  void remove(int) override { is_removed = true; }
  allocator& memory() noexcept override { return *owner; }
  void wake() {
    std::array<std::byte, 8192> scratch;
    handler->ready(true, false, scratch);
  }
  socket_handler* handler = nullptr;
  std::shared_ptr<void> kept_handler;
  bool is_removed = false;
  cpu_allocator::owner owner = cpu_allocator::make(0, 0);
};

TEST_CASE("a connection whose bytes arrive too early is polled, and one that has ended is not") {
  auto closes = GENERATE(false, true);
  int descriptors[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, descriptors) == 0);
  plain_connection connection{descriptors[1]};
  auto loop = std::make_shared<woken_loop>();
  std::unique_ptr<byte_stream> taken_stream;
  auto waiting = pending_handshakes::make(
      loop, {.tls = {}, .on_ready = [&](std::unique_ptr<byte_stream> stream) {
               taken_stream = std::move(stream);
             }});
  waiting->add(make_socket_stream(descriptors[0]));
  auto whole_hello = greeting();
  REQUIRE(connection.write(whole_hello.substr(0, 20)));
  loop->wake();
  CHECK(!loop->is_removed);
  if (closes)
    REQUIRE(::shutdown(connection.descriptor(), SHUT_WR) == 0);
  loop->wake(); // as where the system is short of memory
  CHECK(loop->is_removed == closes);
  if (!closes) {
    REQUIRE(connection.write(whole_hello.substr(20)));
    loop->wake();
    CHECK(loop->is_removed);
  }
  loop->handler->removed();
  CHECK((taken_stream != nullptr) != closes);
  waiting->close();
  loop->kept_handler = nullptr;
}

TEST_CASE("a hello is read in any portions, and together with the bytes after it") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto plain = start_task(cluster, {"worker", 0});
  auto hello = greeting();
  for (size_t split :
       {size_t{1}, size_t{3}, size_t{31}, size_t{32}, size_t{33}, hello.size() - 1}) {
    plain_connection connection{plain->port()};
    REQUIRE(connection.write(hello.substr(0, split)));
    std::this_thread::sleep_for(5ms); // mostly, the two parts arrive separately
    REQUIRE(connection.write(hello.substr(split)));
    auto answer = answer_at(connection.descriptor());
    INFO(answer);
    CHECK(answer.ok());
  }
  plain_connection ended_connection{plain->port()};
  REQUIRE(ended_connection.write(hello.substr(0, hello.size() - 1)));
  ::shutdown(ended_connection.descriptor(), SHUT_WR);
  bool closed = false;
  ended_connection.read_to_end(closed);
  CHECK(closed);
}

} // namespace troupe::test::pending_handshakes_test
