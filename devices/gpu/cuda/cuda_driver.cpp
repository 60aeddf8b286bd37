#include "troupe/devices/gpu/cuda/cuda_driver.hpp"

#include "troupe/devices/gpu/cuda/add_bias.cuda.hpp"
#include "troupe/devices/gpu/cuda/combine.cuda.hpp"
#include "troupe/devices/gpu/cuda/copy.cuda.hpp"
#include "troupe/devices/gpu/cuda/nccl.hpp"

#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace troupe::gpu {
namespace {

// Errors after which all calls of the context fail with the same error.
bool is_sticky(cudaError_t code) {
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
    case cudaErrorContained: return true;
    default: return false;
  }
}

status check(cudaError_t code, const char* function) {
  if (code == cudaSuccess)
    return {};
  static_cast<void>(cudaGetLastError()); // else the next launch would report it
  auto kind = is_sticky(code)                     ? error_kind::unavailable
              : code == cudaErrorMemoryAllocation ? error_kind::resource_exhausted
                                                  : error_kind::internal;
  return failure(kind, function, ": ", cudaGetErrorName(code), ", ", cudaGetErrorString(code));
}

cudaStream_t native(stream handle) { return reinterpret_cast<cudaStream_t>(handle); }
cudaEvent_t native(event handle) { return reinterpret_cast<cudaEvent_t>(handle); }
cudaGraphExec_t native(launch_graph handle) { return reinterpret_cast<cudaGraphExec_t>(handle); }

std::string version_text(int number) {
  return concat("CUDA ", number / 1000, '.', number % 1000 / 10);
}

class cuda_driver final : public driver, public collective_driver, public bias_driver {
public:
  collective_driver* as_collective() noexcept override { return this; }
  bias_driver* as_bias() noexcept override { return this; }
  explicit cuda_driver(int ordinal) : ordinal_(ordinal) {}
  ~cuda_driver() override {
    if (boxes_ && use())
      cudaFreeHost(boxes_);
  }

  status start() {
    TROUPE_TRY(use());
    cudaDeviceProp queried{};
    TROUPE_TRY(check(cudaGetDeviceProperties(&queried, ordinal_), "cudaGetDeviceProperties"));
    int version = 0;
    TROUPE_TRY(check(cudaDriverGetVersion(&version), "cudaDriverGetVersion"));
    about_ = {.name = queried.name,
              .driver = version_text(version),
              .compute_major = queried.major,
              .compute_minor = queried.minor,
              .total_memory = queried.totalGlobalMem};
    void* shared = nullptr;
    TROUPE_TRY(check(cudaHostAlloc(&shared, sizeof(device_error_flags::boxes), cudaHostAllocMapped),
                     "cudaHostAlloc"));
    boxes_ = new (shared) device_error_flags::boxes;
    errors_.emplace(*boxes_);
    return {};
  }

  const properties& gpu_properties() const noexcept override { return about_; }
  status make_current() override { return use(); }

  result<stream> make_stream() override {
    TROUPE_TRY(use());
    cudaStream_t created = nullptr;
    // A blocking stream would synchronize with the default stream.
    TROUPE_TRY(
        check(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking), "cudaStreamCreate"));
    return reinterpret_cast<stream>(created);
  }
  void destroy(stream handle) noexcept override {
    if (use())
      cudaStreamDestroy(native(handle));
  }
  result<event> make_event() override {
    TROUPE_TRY(use());
    cudaEvent_t created = nullptr;
    TROUPE_TRY(
        check(cudaEventCreateWithFlags(&created, cudaEventDisableTiming), "cudaEventCreate"));
    return reinterpret_cast<event>(created);
  }
  result<event> make_timed_event() override {
    TROUPE_TRY(use());
    cudaEvent_t created = nullptr;
    TROUPE_TRY(check(cudaEventCreateWithFlags(&created, cudaEventDefault), "cudaEventCreate"));
    return reinterpret_cast<event>(created);
  }
  result<int64_t> elapsed(event from, event to) override {
    TROUPE_TRY(use());
    float milliseconds = 0;
    TROUPE_TRY(check(cudaEventElapsedTime(&milliseconds, native(from), native(to)),
                     "cudaEventElapsedTime"));
    return static_cast<int64_t>(double{milliseconds} * 1e6);
  }
  void destroy(event handle) noexcept override {
    if (use())
      cudaEventDestroy(native(handle));
  }

  status record(event handle, stream in) override {
    TROUPE_TRY(use());
    return check(cudaEventRecord(native(handle), native(in)), "cudaEventRecord");
  }
  status await(stream in, event handle) override {
    TROUPE_TRY(use());
    return check(cudaStreamWaitEvent(native(in), native(handle), 0), "cudaStreamWaitEvent");
  }
  result<bool> passed(event handle) override {
    TROUPE_TRY(use());
    auto code = cudaEventQuery(native(handle));
    if (code == cudaErrorNotReady)
      return false;
    TROUPE_TRY(check(code, "a kernel or a copy"));
    return true;
  }
  // CUDA has no wait with a timeout: polls, first in a loop, then with pauses.
  result<bool> wait(event handle, std::chrono::microseconds at_most) override {
    auto begin = std::chrono::steady_clock::now();
    for (;;) {
      TROUPE_ASSIGN(auto has_passed, passed(handle));
      if (has_passed)
        return true;
      auto waited = std::chrono::steady_clock::now() - begin;
      if (waited >= at_most)
        return false;
      if (waited > spin_time)
        std::this_thread::sleep_for(poll_interval);
    }
  }

  device_error_flags& device_errors() noexcept override { return *errors_; }

  void* allocate(size_t bytes) noexcept override {
    void* memory = nullptr;
    if (!use() || cudaMalloc(&memory, bytes) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    return memory;
  }
  void deallocate(void* memory) noexcept override {
    if (memory && use())
      cudaFree(memory);
  }
  void* allocate_pinned(size_t bytes) noexcept override {
    void* memory = nullptr;
    if (!use() || cudaMallocHost(&memory, bytes) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    return memory;
  }
  void deallocate_pinned(void* memory) noexcept override {
    if (memory && use())
      cudaFreeHost(memory);
  }

  status copy(void* to, const void* from, size_t bytes, direction where, stream in) override {
    TROUPE_TRY(use());
    constexpr cudaMemcpyKind kinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
                                        cudaMemcpyDeviceToDevice};
    return check(cudaMemcpyAsync(to, from, bytes, kinds[static_cast<size_t>(where)], native(in)),
                 "cudaMemcpyAsync");
  }

  status copy_from(driver& peer, void* to, const void* from, size_t bytes, stream in) override {
    auto* source_driver = dynamic_cast<cuda_driver*>(&peer);
    if (!source_driver)
      return failure(error_kind::unimplemented, "the other device is not a CUDA device");
    if (source_driver->ordinal_ == ordinal_)
      return copy(to, from, bytes, direction::within, in);
    TROUPE_TRY(use());
    enable_peer_access(source_driver->ordinal_);
    return check(
        cudaMemcpyPeerAsync(to, ordinal_, from, source_driver->ordinal_, bytes, native(in)),
        "cudaMemcpyPeerAsync");
  }

  status copy(const strided_copy& described, stream in) override {
    TROUPE_TRY(use());
    return check(launch_copy(described, native(in)), "a copy's launch");
  }
  status fill(void* to, const void* element, size_t element_bytes, int64_t count,
              stream in) override {
    TROUPE_TRY(use());
    return check(launch_fill(to, element, element_bytes, count, native(in)), "a fill's launch");
  }

  status begin_capture(stream in) override {
    TROUPE_TRY(use());
    // Relaxed: other threads are not restricted, and this thread may allocate memory.
    return check(cudaStreamBeginCapture(native(in), cudaStreamCaptureModeRelaxed),
                 "cudaStreamBeginCapture");
  }
  result<launch_graph> end_capture(stream in) override {
    TROUPE_TRY(use());
    cudaGraph_t captured = nullptr;
    TROUPE_TRY(check(cudaStreamEndCapture(native(in), &captured), "cudaStreamEndCapture"));
    cudaGraphExec_t executable = nullptr;
    auto outcome = check(cudaGraphInstantiate(&executable, captured, 0), "cudaGraphInstantiate");
    cudaGraphDestroy(captured);
    TROUPE_TRY(std::move(outcome));
    return reinterpret_cast<launch_graph>(executable);
  }
  status launch(launch_graph graph, stream in) override {
    TROUPE_TRY(use());
    return check(cudaGraphLaunch(native(graph), native(in)), "cudaGraphLaunch");
  }
  void destroy(launch_graph graph) noexcept override {
    if (use())
      cudaGraphExecDestroy(native(graph));
  }

  int64_t gpu() const noexcept override { return ordinal_; }
  result<std::shared_ptr<communicator>>
  make_communicator(std::span<driver* const> drivers) override {
    std::vector<int> numbers;
    for (auto* member : drivers) {
      auto* peer = dynamic_cast<cuda_driver*>(member);
      if (!peer)
        return failure(error_kind::internal, "a driver that is not CUDA's");
      numbers.push_back(peer->ordinal_);
    }
    return make_nccl_communicator(numbers);
  }
  status combine(void* to, std::span<const void* const> from, int64_t count, dtype type,
                 reduction by, bool average, stream in) override {
    if (from.size() == 1)
      return copy(to, from[0], static_cast<size_t>(count) * size_of(type), direction::within, in);
    if (from.size() > max_combined)
      return failure(error_kind::unimplemented, "a group has ", from.size(),
                     " members on one GPU, and may have ", max_combined);
    TROUPE_TRY(use());
    return check(launch_combine(to, from, count, type, by, average, native(in)),
                 "the launch of a sum over devices");
  }

  status add_bias(const biased_result& output, const epilogue& applied, stream in) override {
    TROUPE_TRY(use());
    return check(launch_add_bias(output, applied, native(in)), "the launch of a bias");
  }

private:
  static constexpr std::chrono::microseconds spin_time{50}, poll_interval{10};

  // Sets the current device of the calling thread, which other code on the thread may change.
  status use() const noexcept {
    int current = -1;
    if (cudaGetDevice(&current) == cudaSuccess && current == ordinal_)
      return {};
    return check(cudaSetDevice(ordinal_), "cudaSetDevice");
  }

  // Enables direct copies between two GPUs, if the hardware supports them.
  void enable_peer_access(int peer) {
    std::lock_guard guard{peers_mutex_};
    if (!enabled_peers_.insert(peer).second)
      return;
    int possible = 0;
    if (cudaDeviceCanAccessPeer(&possible, ordinal_, peer) == cudaSuccess && possible)
      static_cast<void>(cudaDeviceEnablePeerAccess(peer, 0));
    static_cast<void>(cudaGetLastError()); // access may be enabled already
  }

  const int ordinal_;
  properties about_;
  std::mutex peers_mutex_;
  std::set<int> enabled_peers_;
  device_error_flags::boxes* boxes_ = nullptr;
  std::optional<device_error_flags> errors_;
};

} // namespace

result<std::unique_ptr<driver>> make_cuda_driver(int ordinal) {
  auto created = std::make_unique<cuda_driver>(ordinal);
  TROUPE_TRY(created->start());
  return std::unique_ptr<driver>{std::move(created)};
}

result<int> count_cuda_gpus() {
  int count = 0;
  auto code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return failure(error_kind::unavailable, cudaGetErrorString(code));
  }
  return count;
}

} // namespace troupe::gpu
