#include "tests/simulated_gpu/simulated_driver.hpp"

#include "tests/simulated_gpu/simulated_bias.hpp"
#include "tests/simulated_gpu/simulated_collectives.hpp"
#include "troupe/devices/cpu/collective.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace troupe::gpu {
namespace {

constexpr int rubbish = 0xa5;
constexpr std::align_val_t alignment{256};

// The position of an event in a stream.
struct place {
  std::mutex mutex;
  std::condition_variable changed;
  bool behind = false;
  std::chrono::steady_clock::time_point when;
  status outcome;

  void reach(const status& result_status) {
    std::lock_guard guard{mutex};
    behind = true;
    when = std::chrono::steady_clock::now();
    outcome = result_status;
    changed.notify_all();
  }
  bool wait_until(std::chrono::steady_clock::time_point latest) {
    std::unique_lock guard{mutex};
    return changed.wait_until(guard, latest, [&] { return behind; });
  }
};
using place_ptr = std::shared_ptr<place>;

using job = std::function<void()>;

} // namespace

struct event_handle {
  std::mutex mutex;
  place_ptr stands_for; // null before it is recorded
};

struct graph_handle {
  std::vector<job> jobs;
};

struct stream_handle {
  explicit stream_handle(unsigned seed, std::chrono::microseconds longest)
      : dice(seed), longest_delay(longest), thread([this] { run(); }) {}
  ~stream_handle() {
    {
      std::lock_guard guard{mutex};
      ending = true;
      changed.notify_one();
    }
    thread.join();
  }

  bool is_capturing() {
    std::lock_guard guard{mutex};
    return capturing;
  }

  void push(job new_job) {
    std::lock_guard guard{mutex};
    if (capturing) {
      captured->jobs.push_back(std::move(new_job));
      return;
    }
    jobs.push_back(std::move(new_job));
    changed.notify_one();
  }

  // A graph is one launch: other launches do not come in between.
  void push_all(const std::vector<job>& new_jobs) {
    std::lock_guard guard{mutex};
    jobs.insert(jobs.end(), new_jobs.begin(), new_jobs.end());
    changed.notify_one();
  }

  void run() {
    std::unique_lock guard{mutex};
    for (;;) {
      changed.wait(guard, [&] { return ending || !jobs.empty(); });
      if (jobs.empty())
        return;
      auto next = std::move(jobs.front());
      jobs.pop_front();
      auto delay = dawdle();
      guard.unlock();
      if (delay.count() > 0)
        std::this_thread::sleep_for(delay);
      next();
      next = nullptr;
      guard.lock();
    }
  }

  // Usually no delay, so that tests are quick.
  std::chrono::microseconds dawdle() {
    if (longest_delay.count() == 0 || std::uniform_int_distribution{0, 7}(dice) != 0)
      return {};
    return std::chrono::microseconds{
        std::uniform_int_distribution<int64_t>{0, longest_delay.count()}(dice)};
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<job> jobs;
  std::minstd_rand dice;
  const std::chrono::microseconds longest_delay;
  bool ending = false, capturing = false;
  std::unique_ptr<graph_handle> captured;
  std::thread thread;
};

namespace {

void copy_loops(const strided_copy& copy, int depth, char* to, const char* from) {
  if (depth == copy.rank) {
    std::memcpy(to, from, copy.element_bytes);
    return;
  }
  const auto& loop = copy.loops[static_cast<size_t>(depth)];
  auto bytes = static_cast<int64_t>(copy.element_bytes);
  for (int64_t i = 0; i < loop.extent; ++i)
    copy_loops(copy, depth + 1, to + i * loop.target_stride * bytes,
               from + i * loop.source_stride * bytes);
}

// Streams that meet: none continues before all have arrived, and none leaves before all have read.
// Real libraries require one order of launches on all devices; likewise, streams wait almost
// forever for one that does not arrive.
class assembly {
public:
  explicit assembly(size_t members) : members_(members) {}

  template <class Compute>
  status meet(Compute compute) {
    TROUPE_TRY(pass(arrived_, true));
    compute();
    return pass(left_, false); // the others still read this member's memory
  }
  void disperse(const status& reason) {
    std::lock_guard guard{mutex_};
    dispersed_ = true;
    reason_ = reason;
    changed_.notify_all();
  }

private:
  status pass(size_t& count, bool may_disperse) {
    std::unique_lock guard{mutex_};
    ++count;
    changed_.notify_all();
    auto latest = std::chrono::steady_clock::now() + longest_meeting;
    auto given_up = [&] { return dispersed_ && may_disperse; };
    changed_.wait_until(guard, latest, [&] { return count == members_ || given_up(); });
    if (count == members_)
      return {};
    if (given_up()) {
      --count; // nobody waits for this one to leave
      return reason_;
    }
    return failure(error_kind::aborted, "an exchange was given up: ", count, " of ", members_,
                   " simulated devices came to it");
  }

  static constexpr std::chrono::seconds longest_meeting{20};
  std::mutex mutex_;
  std::condition_variable changed_;
  const size_t members_;
  size_t arrived_ = 0, left_ = 0;
  bool dispersed_ = false;
  status reason_;
};

class exchange_on_threads final : public communicator {
public:
  status launch(const collective_call& request, std::span<const share> shares) override {
    auto where = std::make_shared<assembly>(shares.size());
    {
      std::lock_guard guard{mutex_};
      if (aborted_)
        return failure(error_kind::aborted, "the simulated devices have given each other up");
      std::erase_if(assemblies_, [](const auto& meeting) { return meeting.expired(); });
      assemblies_.push_back(where);
    }
    std::vector<const void*> inputs;
    for (const auto& member_share : shares)
      inputs.push_back(member_share.input);
    for (size_t i = 0; i < shares.size(); ++i) {
      if (i > 0 && ++launches_ % 4 == 0) // so that other launches may come in between
        std::this_thread::sleep_for(std::chrono::microseconds{20});
      auto* on = dynamic_cast<simulated_driver*>(shares[i].of);
      if (!on)
        return failure(error_kind::internal, "a driver that is no simulated one");
      TROUPE_TRY(on->launch(
          [=, to = shares[i].output] {
            return where->meet([&] { compute(request, inputs, i, static_cast<char*>(to)); });
          },
          shares[i].in));
    }
    return {};
  }

  void abort(const status& reason) noexcept override {
    std::lock_guard guard{mutex_};
    aborted_ = true;
    for (const auto& meeting : assemblies_)
      if (auto live = meeting.lock())
        live->disperse(reason);
  }

private:
  static void compute(const collective_call& request, std::vector<const void*> from, size_t member,
                      char* to) {
    auto count = request.dims.elements();
    auto members = from.size();
    auto bytes = static_cast<size_t>(count) * size_of(request.type);
    switch (request.kind) {
      case collective_kind::broadcast:
        if (member != request.root && bytes > 0)
          std::memcpy(to, from[request.root], bytes);
        return;
      case collective_kind::all_gather:
        for (size_t i = 0; i < members && bytes > 0; ++i)
          std::memcpy(to + i * bytes, from[i], bytes);
        return;
      case collective_kind::reduce_scatter:
        count /= static_cast<int64_t>(members);
        for (auto& input : from)
          input = static_cast<const char*>(input) + member * (bytes / members);
        break;
      case collective_kind::all_reduce: break;
    }
    if (count > 0)
      troupe::combine(to, from, 0, count, request.type, request.operation, request.average);
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<assembly>> assemblies_;
  std::atomic<unsigned> launches_{0};
  bool aborted_ = false;
};

std::atomic<int64_t> next_gpu{int64_t{1} << 32}; // numbers that no other GPU has

class driver_on_threads final : public simulated_driver,
                                public collective_driver,
                                public bias_driver {
public:
  collective_driver* as_collective() noexcept override { return this; }
  bias_driver* as_bias() noexcept override { return this; }
  explicit driver_on_threads(const simulation& options, int64_t gpu = next_gpu++)
      : options_(options), gpu_(gpu) {
    about_.name = "simulated GPU";
    about_.driver = "threads of the host";
    about_.total_memory = options.memory;
  }
  ~driver_on_threads() override {
    for (auto& [memory, bytes] : blocks_)
      ::operator delete(memory, alignment);
  }

  const properties& gpu_properties() const noexcept override { return about_; }

  result<stream> make_stream() override {
    return new stream_handle{options_.seed + next_stream_++, options_.longest_delay};
  }
  void destroy(stream handle) noexcept override { delete handle; }
  result<event> make_event() override { return new event_handle; }
  result<event> make_timed_event() override { return make_event(); }
  result<int64_t> elapsed(event from, event to) override {
    auto first = place_of(from), last = place_of(to);
    if (!first || !last)
      return failure(error_kind::internal, "an event was not recorded");
    std::scoped_lock guard{first->mutex, last->mutex};
    if (!first->behind || !last->behind)
      return failure(error_kind::internal, "an event was not passed");
    return std::chrono::nanoseconds{last->when - first->when}.count();
  }
  void destroy(event event_to_destroy) noexcept override { delete event_to_destroy; }

  status record(event recorded, stream in) override {
    TROUPE_TRY(health());
    auto at = std::make_shared<place>();
    {
      std::lock_guard guard{recorded->mutex};
      recorded->stands_for = at;
    }
    if (in->is_capturing()) {
      at->reach(failure(error_kind::internal, "nothing of what is noted down runs yet"));
      return {};
    }
    in->push([this, at] { at->reach(health()); });
    return {};
  }

  status await(stream in, event awaited) override {
    TROUPE_TRY(health());
    if (auto at = place_of(awaited))
      in->push([at] { at->wait_until(std::chrono::steady_clock::now() + longest_wait); });
    return {};
  }

  result<bool> passed(event awaited) override {
    return wait(awaited, std::chrono::microseconds{0});
  }

  result<bool> wait(event awaited, std::chrono::microseconds at_most) override {
    auto at = place_of(awaited);
    if (!at)
      return true;
    if (!at->wait_until(std::chrono::steady_clock::now() + at_most))
      return false;
    if (!at->outcome)
      return at->outcome;
    return true;
  }

  device_error_flags& device_errors() noexcept override { return error_flags_; }

  void* allocate(size_t bytes) noexcept override {
    std::lock_guard guard{mutex_};
    if (bytes > options_.memory - used_)
      return nullptr;
    auto* memory = ::operator new(bytes, alignment, std::nothrow);
    if (!memory)
      return nullptr;
    std::memset(memory, rubbish, bytes);
    used_ += bytes;
    blocks_[memory] = bytes;
    return memory;
  }

  void deallocate(void* memory) noexcept override {
    if (!memory)
      return;
    std::lock_guard guard{mutex_};
    auto found_block = blocks_.find(memory);
    if (found_block == blocks_.end()) {
      misuses_ += "memory was given back that was not given out; ";
      return;
    }
    std::memset(memory, rubbish, found_block->second);
    used_ -= found_block->second;
    blocks_.erase(found_block);
    ::operator delete(memory, alignment);
  }

  void* allocate_pinned(size_t bytes) noexcept override {
    return ::operator new(bytes, alignment, std::nothrow);
  }
  void deallocate_pinned(void* memory) noexcept override { ::operator delete(memory, alignment); }

  status copy(void* to, const void* from, size_t bytes, direction where, stream in) override {
    TROUPE_TRY(check(to, bytes, where != direction::to_host));
    TROUPE_TRY(check(from, bytes, where != direction::to_device));
    return launch(
        [=]() -> status {
          std::memcpy(to, from, bytes);
          return {};
        },
        in);
  }

  status copy_from(driver& peer, void* to, const void* from, size_t bytes, stream in) override {
    auto* peer_driver = dynamic_cast<driver_on_threads*>(&peer);
    if (!peer_driver || options_.peers_are_out_of_reach)
      return failure(error_kind::unimplemented, "the other device is out of reach");
    TROUPE_TRY(check(to, bytes, true));
    TROUPE_TRY(peer_driver->check(from, bytes, true));
    return launch(
        [=]() -> status {
          std::memcpy(to, from, bytes);
          return {};
        },
        in);
  }

  status copy(const strided_copy& copy, stream in) override {
    TROUPE_TRY(check(copy.target, copy.element_bytes, true));
    TROUPE_TRY(check(copy.source, copy.element_bytes, true));
    return launch(
        [=]() -> status {
          copy_loops(copy, 0, static_cast<char*>(copy.target),
                     static_cast<const char*>(copy.source));
          return {};
        },
        in);
  }

  status fill(void* to, const void* element, size_t element_bytes, int64_t count,
              stream in) override {
    TROUPE_TRY(check(to, element_bytes * static_cast<size_t>(count), true));
    std::array<char, 16> value{};
    std::memcpy(value.data(), element, element_bytes);
    return launch(
        [=]() -> status {
          for (int64_t i = 0; i < count; ++i)
            std::memcpy(static_cast<char*>(to) + i * static_cast<int64_t>(element_bytes),
                        value.data(), element_bytes);
          return {};
        },
        in);
  }

  status launch(std::function<status()> kernel, stream in) override {
    TROUPE_TRY(health());
    count_launch();
    auto place = in->is_capturing() ? error_flags_.for_replay() : error_flags_.for_launch();
    in->push([this, kernel = std::move(kernel), epoch = place.epoch] {
      if (!health())
        return;
      if (auto outcome = kernel(); !outcome)
        error_flags_.add(epoch, std::move(outcome));
    });
    return {};
  }

  int64_t gpu() const noexcept override { return gpu_; }
  result<std::shared_ptr<communicator>> make_communicator(std::span<driver* const>) override {
    return std::shared_ptr<communicator>{std::make_shared<exchange_on_threads>()};
  }
  status combine(void* to, std::span<const void* const> from, int64_t count, dtype type,
                 reduction combination, bool average, stream in) override {
    return launch(
        [=, places = std::vector<const void*>(from.begin(), from.end())]() -> status {
          troupe::combine(to, places, 0, count, type, combination, average);
          return {};
        },
        in);
  }
  status add_bias(const biased_result& to, const epilogue& bias_options, stream in) override {
    return launch([=] { return add_bias_on_host(to, bias_options); }, in);
  }

  status begin_capture(stream in) override {
    TROUPE_TRY(health());
    std::lock_guard guard{in->mutex};
    if (in->capturing)
      return failure(error_kind::internal, "the stream is captured already");
    in->capturing = true;
    in->captured = std::make_unique<graph_handle>();
    return {};
  }

  result<launch_graph> end_capture(stream in) override {
    std::lock_guard guard{in->mutex};
    if (!in->capturing)
      return failure(error_kind::internal, "the stream is not captured");
    in->capturing = false;
    if (options_.captures_fail) {
      in->captured.reset();
      return failure(error_kind::internal, "the simulated device was told to capture nothing");
    }
    return in->captured.release();
  }

  status launch(launch_graph graph, stream in) override {
    TROUPE_TRY(health());
    count_launch();
    in->push_all(graph->jobs);
    return {};
  }
  void destroy(launch_graph graph) noexcept override { delete graph; }

  void lose() override {
    std::lock_guard guard{mutex_};
    if (lost_)
      lost_ = failure(error_kind::unavailable, "the simulated device was told to be lost");
  }

  int64_t launches() const override { return launches_; }

  std::string misuses() const override {
    std::lock_guard guard{mutex_};
    return misuses_;
  }

private:
  static constexpr std::chrono::seconds longest_wait{20};

  static place_ptr place_of(event recorded) {
    std::lock_guard guard{recorded->mutex};
    return recorded->stands_for;
  }

  // Checks that the memory is, or is not, the device's, as it should be.
  status check(const void* memory, size_t bytes, bool on_device) {
    std::lock_guard guard{mutex_};
    auto next_block = blocks_.upper_bound(const_cast<void*>(memory));
    auto inside =
        next_block != blocks_.begin() &&
        static_cast<const char*>(memory) + bytes <=
            static_cast<const char*>(std::prev(next_block)->first) + std::prev(next_block)->second;
    if (inside == on_device)
      return {};
    misuses_ +=
        on_device ? "a copy left the device's memory; " : "a copy hit the device's memory; ";
    return failure(error_kind::internal, "a copy of ", bytes, " bytes: the memory is ",
                   on_device ? "not the device's" : "the device's");
  }

  void count_launch() {
    if (auto count_before = launches_++;
        options_.launches_until_lost >= 0 && count_before >= options_.launches_until_lost)
      lose();
  }

  status health() const {
    std::lock_guard guard{mutex_};
    return lost_;
  }

  const simulation options_;
  const int64_t gpu_;
  properties about_;
  std::atomic<unsigned> next_stream_{0};
  std::atomic<int64_t> launches_{0};
  mutable std::mutex mutex_;
  size_t used_ = 0;
  std::map<void*, size_t> blocks_;
  std::string misuses_;
  status lost_;
  device_error_flags::boxes boxes_;
  device_error_flags error_flags_{boxes_};
};

} // namespace

std::unique_ptr<simulated_driver> make_simulated_driver(const simulation& options) {
  return std::make_unique<driver_on_threads>(options);
}

std::unique_ptr<simulated_driver> make_simulated_driver_on(int64_t gpu, const simulation& options) {
  return std::make_unique<driver_on_threads>(options, gpu);
}

} // namespace troupe::gpu
