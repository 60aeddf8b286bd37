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

// Errors after which the context answers nothing but the same error.
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

status check(cudaError_t code, const char* what) {
  if (code == cudaSuccess)
    return {};
  static_cast<void>(cudaGetLastError()); // or the next launch would be blamed
  auto kind = is_sticky(code)                     ? error_kind::unavailable
              : code == cudaErrorMemoryAllocation ? error_kind::resource_exhausted
                                                  : error_kind::internal;
  return failure(kind, what, ": ", cudaGetErrorName(code), ", ", cudaGetErrorString(code));
}

cudaStream_t native(stream what) { return reinterpret_cast<cudaStream_t>(what); }
cudaEvent_t native(event what) { return reinterpret_cast<cudaEvent_t>(what); }
cudaGraphExec_t native(launch_graph what) { return reinterpret_cast<cudaGraphExec_t>(what); }

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
    cudaDeviceProp found{};
    TROUPE_TRY(check(cudaGetDeviceProperties(&found, ordinal_), "cudaGetDeviceProperties"));
    int version = 0;
    TROUPE_TRY(check(cudaDriverGetVersion(&version), "cudaDriverGetVersion"));
    about_ = {.name = found.name,
              .driver = version_text(version),
              .compute_major = found.major,
              .compute_minor = found.minor,
              .total_memory = found.totalGlobalMem};
    void* shared = nullptr;
    TROUPE_TRY(check(cudaHostAlloc(&shared, sizeof(device_error_flags::boxes), cudaHostAllocMapped),
                     "cudaHostAlloc"));
    boxes_ = new (shared) device_error_flags::boxes;
    complaints_.emplace(*boxes_);
    return {};
  }

  const properties& about() const noexcept override { return about_; }
  status make_current() override { return use(); }

  result<stream> make_stream() override {
    TROUPE_TRY(use());
    cudaStream_t made = nullptr;
    // The default stream would wait for it, and it for that.
    TROUPE_TRY(check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreate"));
    return reinterpret_cast<stream>(made);
  }
  void destroy(stream which) noexcept override {
    if (use())
      cudaStreamDestroy(native(which));
  }
  result<event> make_event() override {
    TROUPE_TRY(use());
    cudaEvent_t made = nullptr;
    TROUPE_TRY(check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "cudaEventCreate"));
    return reinterpret_cast<event>(made);
  }
  result<event> make_timed_event() override {
    TROUPE_TRY(use());
    cudaEvent_t made = nullptr;
    TROUPE_TRY(check(cudaEventCreateWithFlags(&made, cudaEventDefault), "cudaEventCreate"));
    return reinterpret_cast<event>(made);
  }
  result<int64_t> elapsed(event from, event to) override {
    TROUPE_TRY(use());
    float milliseconds = 0;
    TROUPE_TRY(check(cudaEventElapsedTime(&milliseconds, native(from), native(to)),
                     "cudaEventElapsedTime"));
    return static_cast<int64_t>(double{milliseconds} * 1e6);
  }
  void destroy(event which) noexcept override {
    if (use())
      cudaEventDestroy(native(which));
  }

  status record(event which, stream in) override {
    TROUPE_TRY(use());
    return check(cudaEventRecord(native(which), native(in)), "cudaEventRecord");
  }
  status await(stream in, event which) override {
    TROUPE_TRY(use());
    return check(cudaStreamWaitEvent(native(in), native(which), 0), "cudaStreamWaitEvent");
  }
  result<bool> passed(event which) override {
    TROUPE_TRY(use());
    auto asked = cudaEventQuery(native(which));
    if (asked == cudaErrorNotReady)
      return false;
    TROUPE_TRY(check(asked, "a kernel or a copy"));
    return true;
  }
  // CUDA knows no bounded wait: it is asked, often at first, then now and then.
  result<bool> wait(event which, std::chrono::microseconds at_most) override {
    auto begin = std::chrono::steady_clock::now();
    for (;;) {
      TROUPE_ASSIGN(auto behind, passed(which));
      if (behind)
        return true;
      auto waited = std::chrono::steady_clock::now() - begin;
      if (waited >= at_most)
        return false;
      if (waited > spin)
        std::this_thread::sleep_for(nap);
    }
  }

  device_error_flags& device_errors() noexcept override { return *complaints_; }

  void* allocate(size_t bytes) noexcept override {
    void* made = nullptr;
    if (!use() || cudaMalloc(&made, bytes) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    return made;
  }
  void deallocate(void* memory) noexcept override {
    if (memory && use())
      cudaFree(memory);
  }
  void* allocate_pinned(size_t bytes) noexcept override {
    void* made = nullptr;
    if (!use() || cudaMallocHost(&made, bytes) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    return made;
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
    auto* other = dynamic_cast<cuda_driver*>(&peer);
    if (!other)
      return failure(error_kind::unimplemented, "the other device is no CUDA device");
    if (other->ordinal_ == ordinal_)
      return copy(to, from, bytes, direction::within, in);
    TROUPE_TRY(use());
    reach(other->ordinal_);
    return check(cudaMemcpyPeerAsync(to, ordinal_, from, other->ordinal_, bytes, native(in)),
                 "cudaMemcpyPeerAsync");
  }

  status copy(const strided_copy& what, stream in) override {
    TROUPE_TRY(use());
    return check(launch_copy(what, native(in)), "a copy's launch");
  }
  status fill(void* to, const void* element, size_t element_bytes, int64_t count,
              stream in) override {
    TROUPE_TRY(use());
    return check(launch_fill(to, element, element_bytes, count, native(in)), "a fill's launch");
  }

  status begin_capture(stream in) override {
    TROUPE_TRY(use());
    // Other threads go on as usual meanwhile, and this one may allocate memory.
    return check(cudaStreamBeginCapture(native(in), cudaStreamCaptureModeRelaxed),
                 "cudaStreamBeginCapture");
  }
  result<launch_graph> end_capture(stream in) override {
    TROUPE_TRY(use());
    cudaGraph_t noted = nullptr;
    TROUPE_TRY(check(cudaStreamEndCapture(native(in), &noted), "cudaStreamEndCapture"));
    cudaGraphExec_t made = nullptr;
    auto outcome = check(cudaGraphInstantiate(&made, noted, 0), "cudaGraphInstantiate");
    cudaGraphDestroy(noted);
    TROUPE_TRY(std::move(outcome));
    return reinterpret_cast<launch_graph>(made);
  }
  status launch(launch_graph what, stream in) override {
    TROUPE_TRY(use());
    return check(cudaGraphLaunch(native(what), native(in)), "cudaGraphLaunch");
  }
  void destroy(launch_graph what) noexcept override {
    if (use())
      cudaGraphExecDestroy(native(what));
  }

  int64_t gpu() const noexcept override { return ordinal_; }
  result<std::shared_ptr<communicator>> make_communicator(std::span<driver* const> all) override {
    std::vector<int> numbers;
    for (auto* one : all) {
      auto* peer = dynamic_cast<cuda_driver*>(one);
      if (!peer)
        return failure(error_kind::internal, "a driver that is not CUDA's");
      numbers.push_back(peer->ordinal_);
    }
    return introduce_by_nccl(numbers);
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

  status add_bias(const biased_result& to, const epilogue& what, stream in) override {
    TROUPE_TRY(use());
    return check(launch_add_bias(to, what, native(in)), "the launch of a bias");
  }

private:
  static constexpr std::chrono::microseconds spin{50}, nap{10};

  // Each thread has a current device of its own, which other code on it may change, too.
  status use() const noexcept {
    int current = -1;
    if (cudaGetDevice(&current) == cudaSuccess && current == ordinal_)
      return {};
    return check(cudaSetDevice(ordinal_), "cudaSetDevice");
  }

  // Copies take the direct way from now on, where there is one.
  void reach(int other) {
    std::lock_guard guard{reached_mutex_};
    if (!reached_.insert(other).second)
      return;
    int possible = 0;
    if (cudaDeviceCanAccessPeer(&possible, ordinal_, other) == cudaSuccess && possible)
      static_cast<void>(cudaDeviceEnablePeerAccess(other, 0));
    static_cast<void>(cudaGetLastError()); // it was so already
  }

  const int ordinal_;
  properties about_;
  std::mutex reached_mutex_;
  std::set<int> reached_;
  device_error_flags::boxes* boxes_ = nullptr;
  std::optional<device_error_flags> complaints_;
};

} // namespace

result<std::unique_ptr<driver>> make_cuda_driver(int ordinal) {
  auto made = std::make_unique<cuda_driver>(ordinal);
  TROUPE_TRY(made->start());
  return std::unique_ptr<driver>{std::move(made)};
}

result<int> count_cuda_gpus() {
  int count = 0;
  auto asked = cudaGetDeviceCount(&count);
  if (asked != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return failure(error_kind::unavailable, cudaGetErrorString(asked));
  }
  return count;
}

} // namespace troupe::gpu
