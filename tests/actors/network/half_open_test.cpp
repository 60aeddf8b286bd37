// Thousands who connect to a task and do not say who they are, or not in time.
#include "tests/support/catch.hpp"
#include "tests/support/plain_socket.hpp"
#include "tests/support/secure_cluster.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/execution/byte_stream.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/half_open.hpp"
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

namespace troupe::test::half_open_test {

using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

constexpr int most_half_open = 256, at_once = 64;

link_options a_client() {
  link_options options;
  options.self = {.software = "test", .role = "client", .job = {}, .incarnation = 5};
  return options;
}

// What a task answers to a hello: ok where it introduces itself, as it does to whom it takes.
status answer_at(int descriptor) {
  bool introduced = false;
  troupe::link peer{a_client(), {.on_hello = [&](const hello& who) {
                      introduced = who.job == "worker";
                      return status{};
                    }}};
  while (!introduced) {
    pollfd wait{descriptor, POLLIN, 0};
    if (::poll(&wait, 1, 10'000 * patience_factor()) != 1)
      return failure(error_kind::deadline_exceeded, "nothing was answered");
    std::array<char, 4096> bytes{};
    auto came = ::recv(descriptor, bytes.data(), bytes.size(), 0);
    if (came <= 0)
      return failure(error_kind::unavailable, "it was closed");
    TROUPE_TRY(peer.receive(std::as_bytes(std::span{bytes}.first(static_cast<size_t>(came)))));
  }
  return {};
}

std::string greeting() {
  troupe::link peer{a_client(), {}};
  std::vector<char> bytes;
  peer.fill(bytes, 1 << 20);
  return {bytes.begin(), bytes.end()};
}

// The beginning of a handshake of TLS, which says that 512 bytes follow.
const std::string tls_begin{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11};

// From another address of loopback, as another machine.
int connect_from(const char* source, uint16_t port) {
  auto made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  ::inet_pton(AF_INET, source, &at.sin_addr);
  REQUIRE(::bind(made, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(made, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  return made;
}

bool is_closed(int descriptor) {
  char byte = 0;
  auto came = ::recv(descriptor, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  return came == 0 || (came < 0 && errno != EAGAIN);
}

// As many as a process may have beside others.
size_t allowed(size_t count) {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  return std::min<size_t>(count, limit.rlim_cur - 2 * most_half_open - 200);
}

// Which descriptors of this process are its tasks'.
int descriptors_beside(size_t ours) {
  return footprint_of(::getpid()).descriptors - static_cast<int>(ours);
}

// Connections of many who say so much and then nothing.
void withstand(uint16_t port, size_t count, const std::string& first,
               const std::function<bool()>& lives) {
  REQUIRE(lives());
  auto before = footprint_of(::getpid());
  {
    std::vector<plain_connection> storm;
    for (size_t i = 0; i < count; ++i) {
      storm.emplace_back(port);
      if (!first.empty())
        storm.back().write(first); // it may have been closed already
      if (i % 1000 == 999)
        CHECK(lives());
    }
    auto bound = before.descriptors + most_half_open + at_once + 16;
    for (auto end = clock_type::now() + 10s;
         descriptors_beside(count) > bound && clock_type::now() < end;)
      std::this_thread::sleep_for(10ms);
    CHECK(descriptors_beside(count) <= bound);
    CHECK(footprint_of(::getpid()).threads <= before.threads + 2);
    if (size_is_telling)
      CHECK(footprint_of(::getpid()).resident_kib - before.resident_kib < 64 * 1024);
    CHECK(lives());
  }
  for (auto end = clock_type::now() + 10s;
       descriptors_beside(0) > before.descriptors + 4 && clock_type::now() < end;)
    std::this_thread::sleep_for(10ms);
  CHECK(descriptors_beside(0) <= before.descriptors + 4);
  CHECK(lives());
}

void withstand_with_and_without_tls(size_t count) {
  {
    auto cluster = make_cluster(1);
    auto plain = start_task(cluster, {"worker", 0});
    auto lives = [&] { return run_all(*connect_to(cluster), text_case{small_text}).empty(); };
    withstand(plain->port(), count, "", lives);
    withstand(plain->port(), count, greeting().substr(0, 40), lives);
  }
  secure_cluster here{1};
  withstand(here.port(), count, "", [&] { return here.lives(); });
  withstand(here.port(), count, tls_begin, [&] { return here.lives(); });
}

} // namespace

TEST_CASE("a thousand half-open connections leave a task at work, with few descriptors") {
  watchdog watch;
  withstand_with_and_without_tls(allowed(1000));
}

TEST_CASE("so do ten thousand", "[slow]") {
  watchdog watch{300s};
  withstand_with_and_without_tls(allowed(10'000));
}

TEST_CASE("who has no certificate stays half-open until a token has come, and is told nothing") {
  watchdog watch;
  auto token = new_token();
  secure_cluster here{concat(R"({"clients": {"alice": {"may": ["register", "run"]}},
      "tokens": {"ci": {"sha256": ")",
                             digest_of_token(token), R"(", "may": ["register", "run"]}}})")};
  auto lives = [&] {
    return here.lives() &&
           run_all(*here.connect(here.authority.token(token)), text_case{small_text}).empty();
  };
  REQUIRE(lives());
  auto anybody = tls_identity::load({.files = here.authority.token(new_token())});
  REQUIRE(anybody);
  auto before = footprint_of(::getpid()).descriptors;
  std::atomic<bool> stop{false};
  std::vector<std::unique_ptr<byte_stream>> silent;
  for (size_t i = 0, count = allowed(500); i < count; ++i) {
    auto made = dial_over_tls({"127.0.0.1", here.port()}, *anybody, task_name{"worker", 0},
                              step_clock::now() + 10s, stop);
    INFO(made.status());
    REQUIRE(made);
    silent.push_back(*std::move(made));
  }
  auto bound = before + most_half_open + at_once + 16;
  for (auto end = clock_type::now() + 10s;
       descriptors_beside(silent.size()) > bound && clock_type::now() < end;)
    std::this_thread::sleep_for(10ms);
  CHECK(descriptors_beside(silent.size()) <= bound);
  CHECK(lives());
  for (const auto& one : silent) {
    char bytes[64];
    iovec place{bytes, sizeof bytes};
    CHECK(one->read({&place, 1}) <= 0);
  }
}

TEST_CASE("a hello with a token is read whatever portions it comes in") {
  watchdog watch;
  auto token = new_token();
  secure_cluster here{concat(R"({"tokens": {"ci": {"sha256": ")", digest_of_token(token),
                             R"(", "may": ["register", "run"]}}})")};
  auto anybody = tls_identity::load({.files = here.authority.token(token)});
  REQUIRE(anybody);
  std::atomic<bool> stop{false};
  // What is answered to a hello that comes in two parts: the task's own, or a refusal.
  auto answer_to = [&](const std::string& shown, size_t split) {
    auto made = dial_over_tls({"127.0.0.1", here.port()}, *anybody, task_name{"worker", 0},
                              step_clock::now() + 10s, stop);
    REQUIRE(made);
    auto options = a_client();
    options.self.access_token = shown;
    troupe::link peer{options, {}};
    std::vector<char> bytes;
    peer.fill(bytes, 1 << 20);
    for (auto part : {std::span{bytes}.first(split), std::span{bytes}.subspan(split)}) {
      iovec place{part.data(), part.size()};
      REQUIRE((*made)->write({&place, 1}) == static_cast<ssize_t>(part.size()));
      std::this_thread::sleep_for(2ms); // they come apart, mostly
    }
    std::string came(4096, ' ');
    iovec place{came.data(), came.size()};
    ssize_t size = -1;
    for (auto end = clock_type::now() + 10s; size < 0 && clock_type::now() < end;)
      size = (*made)->read({&place, 1});
    came.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
    return came;
  };
  for (size_t split : {1, 31, 32, 33, 100})
    CHECK(answer_to(token, split).find("worker") != std::string::npos);
  CHECK(answer_to(new_token(), 40).find("not on the access list") != std::string::npos);
  CHECK(answer_to("", 40).find("neither a certificate nor a token") != std::string::npos);
}

TEST_CASE("who sends a byte now and then has no more time than others") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto plain = start_task(cluster, {"worker", 0}, 500ms);
  auto hello = greeting();
  std::vector<plain_connection> slow;
  for (int i = 0; i < 100; ++i)
    slow.emplace_back(plain->port());
  auto begin = clock_type::now();
  size_t said = 0;
  auto open = [&] {
    return std::ranges::count_if(slow, [](auto& one) { return !is_closed(one.descriptor()); });
  };
  while (open() > 0 && said + 1 < hello.size()) {
    for (auto& one : slow)
      one.write(hello.substr(said, 1));
    ++said;
    std::this_thread::sleep_for(20ms);
  }
  CHECK(open() == 0);
  CHECK(clock_type::now() - begin < 6s * patience_factor());
}

TEST_CASE("a machine that calls again and again does not drive out others") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto plain = start_task(cluster, {"worker", 0});
  auto hello = greeting();
  plain_connection other{connect_from("127.0.0.2", plain->port())};
  REQUIRE(other.write(hello.substr(0, 20)));
  std::vector<plain_connection> storm;
  for (int i = 0; i < 2 * most_half_open; ++i)
    storm.emplace_back(plain->port());
  pollfd wait{storm[0].descriptor(), POLLIN, 0};
  REQUIRE(::poll(&wait, 1, 5000) == 1); // the first of them was closed
  REQUIRE(other.write(hello.substr(20)));
  auto answer = answer_at(other.descriptor());
  INFO(answer);
  CHECK(answer.ok());
}

// One that a test wakes.
struct woken_loop final : io_loop {
  status add(int, socket_handler& what, std::chrono::milliseconds,
             std::shared_ptr<void> keep) override {
    handler = &what;
    kept = std::move(keep);
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
  std::shared_ptr<void> kept;
  bool is_removed = false;
  cpu_allocator::owner owner = cpu_allocator::make(0, 0);
};

TEST_CASE("who is heard of too early is waited for, and who has ended is not") {
  auto ends = GENERATE(false, true);
  int both[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, both) == 0);
  plain_connection other{both[1]};
  auto loop = std::make_shared<woken_loop>();
  std::unique_ptr<byte_stream> taken;
  auto waiting = half_open_connections::make(
      loop,
      {.tls = {}, .on_ready = [&](std::unique_ptr<byte_stream> one) { taken = std::move(one); }});
  waiting->add(make_socket_stream(both[0]));
  auto all = greeting();
  REQUIRE(other.write(all.substr(0, 20)));
  loop->wake();
  CHECK(!loop->is_removed);
  if (ends)
    REQUIRE(::shutdown(other.descriptor(), SHUT_WR) == 0);
  loop->wake(); // as where the system's memory is short
  CHECK(loop->is_removed == ends);
  if (!ends) {
    REQUIRE(other.write(all.substr(20)));
    loop->wake();
    CHECK(loop->is_removed);
  }
  loop->handler->removed();
  CHECK((taken != nullptr) != ends);
  waiting->close();
  loop->kept = nullptr;
}

TEST_CASE("a hello is read whatever portions it comes in, and with what follows it") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto plain = start_task(cluster, {"worker", 0});
  auto hello = greeting();
  for (size_t split :
       {size_t{1}, size_t{3}, size_t{31}, size_t{32}, size_t{33}, hello.size() - 1}) {
    plain_connection one{plain->port()};
    REQUIRE(one.write(hello.substr(0, split)));
    std::this_thread::sleep_for(5ms); // they come apart, mostly
    REQUIRE(one.write(hello.substr(split)));
    auto answer = answer_at(one.descriptor());
    INFO(answer);
    CHECK(answer.ok());
  }
  plain_connection ended{plain->port()};
  REQUIRE(ended.write(hello.substr(0, hello.size() - 1)));
  ::shutdown(ended.descriptor(), SHUT_WR);
  bool closed = false;
  ended.read_to_end(closed);
  CHECK(closed);
}

} // namespace troupe::test::half_open_test
