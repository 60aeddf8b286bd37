// Plain loops over a TCP connection of the loopback interface, as iperf3 runs them: the reference
// for exchanges and reductions. Both ends are threads of this process, which costs as much as
// processes.
#include "bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <utility>
#include <vector>

namespace troupe::bench {
namespace {

constexpr size_t piece = 128 * 1024; // bytes of a read or write, as in iperf3

// A connection and its two ends.
class connection {
public:
  connection() {
    auto listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    ends_[0] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::bind(listener, generic, size) == 0 && ::listen(listener, 1) == 0 &&
        ::getsockname(listener, generic, &size) == 0 && ::connect(ends_[0], generic, size) == 0)
      ends_[1] = ::accept(listener, nullptr, nullptr);
    ::close(listener);
    if (ends_[1] < 0)
      throw error{failure(error_kind::unavailable, "no connection over the loopback interface")};
    for (auto socket : ends_) {
      int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() {
    for (auto socket : ends_)
      if (socket >= 0)
        ::close(socket);
  }

  bool write(int end, size_t bytes) const {
    std::vector<char> buffer(std::min(bytes, piece));
    for (size_t done = 0; done < bytes;) {
      auto sent =
          ::send(ends_[end], buffer.data(), std::min(buffer.size(), bytes - done), MSG_NOSIGNAL);
      if (sent <= 0)
        return false;
      done += static_cast<size_t>(sent);
    }
    return true;
  }
  bool read(int end, size_t bytes) const {
    std::vector<char> buffer(std::min(bytes, piece));
    for (size_t done = 0; done < bytes;) {
      auto received = ::recv(ends_[end], buffer.data(), std::min(buffer.size(), bytes - done), 0);
      if (received <= 0)
        return false;
      done += static_cast<size_t>(received);
    }
    return true;
  }
  // Reads at the other end fail from now on.
  void end() const { ::shutdown(ends_[0], SHUT_RDWR); }

private:
  int ends_[2] = {-1, -1};
};

// One end requests with four bytes, the other answers with `bytes` bytes.
void one_way(benchmark::State& state, size_t bytes) {
  connection link;
  std::jthread other_end{[&] {
    while (link.read(1, 4) && link.write(1, bytes))
      ;
  }};
  for (auto _ : state)
    if (!link.write(0, 4) || !link.read(0, bytes))
      state.SkipWithError("the connection has ended");
  link.end();
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

// Both ends send `bytes` bytes, and read as many.
void two_way(benchmark::State& state, size_t bytes) {
  connection forward, backward;
  std::jthread other_end{[&] {
    while (forward.read(1, 4)) {
      std::jthread sender{[&] { backward.write(1, bytes); }};
      forward.read(1, bytes);
    }
  }};
  for (auto _ : state) {
    forward.write(0, 4);
    std::jthread sender{[&] { forward.write(0, bytes); }};
    if (!backward.read(0, bytes))
      state.SkipWithError("the connection has ended");
  }
  forward.end();
  backward.end();
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

} // namespace

void register_wire() {
  benchmark::RegisterBenchmark("wire/4B", [](benchmark::State& state) {
    one_way(state, 4);
  })->UseRealTime();
  benchmark::RegisterBenchmark("wire/100MB",
                               [](benchmark::State& state) { one_way(state, 100'000'000); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("wire/100MB_both_ways",
                               [](benchmark::State& state) { two_way(state, 100'000'000); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

} // namespace troupe::bench
