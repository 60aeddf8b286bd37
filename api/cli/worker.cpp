// troupe worker: runs one task of a cluster.
#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/operator/task.hpp"
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/count_of.hpp"
#include "troupe/api/cli/log_lines.hpp"
#include "troupe/api/cli/security_options.hpp"
#include "troupe/api/cli/stop_signals.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/internal/library.hpp"

#include <CLI/CLI.hpp>

#include <csignal>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>

#include <unistd.h>

namespace troupe::cli {
namespace {

struct worker_options {
  std::string job, cluster, join, listen, advertise, http, access;
  std::string log = "text", log_level = "info";
  std::optional<int> task;
  std::chrono::milliseconds join_timeout{300'000};
  double drain_seconds = 20;
  security_options security;
  bool deterministic = false, gpu_launch_threads = false, same_host_reads = true,
       http_allow_remote = false;
  device_choice devices;
  size_t inter_op_threads = 0;
  hosting_limits hosting;
  std::optional<std::chrono::milliseconds> initialize_before_serving;
};

constexpr timespec no_wait{};
constexpr int64_t max_watchdog_seconds = int64_t{24} * 3600;

std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

// Returns the callback for warnings if there is no log, which would include them.
std::function<void(const std::string&)> warnings_of(const std::string& log) {
  if (log != "none")
    return {};
  return [](const std::string& text) { write_line(concat("troupe: ", text)); };
}

// Lets running steps end, at most for the given time. Another signal ends the wait.
void drain(task& running, const sigset_t& stop, double timeout_seconds) {
  if (timeout_seconds <= 0)
    return;
  constexpr std::chrono::milliseconds poll_interval{100};
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_seconds);
  auto remaining = running.drain(poll_interval);
  if (remaining.steps > 0)
    std::cout << "draining: " << count_of(remaining.steps, "step") << " still running" << std::endl;
  while (!remaining.none() && std::chrono::steady_clock::now() < end &&
         ::sigtimedwait(&stop, nullptr, &no_wait) < 0)
    remaining = running.drain(poll_interval);
  if (remaining.steps > 0)
    std::cout << "ends with " << count_of(remaining.steps, "step") << " still running" << std::endl;
}

// Returns the address to listen on. A cluster file may name this task later, or not exist yet.
// Returns nullopt after a stop signal.
std::optional<std::string> own_address(const worker_options& options, cluster_access& cluster,
                                       const task_name& self, const sigset_t& stop) {
  if (!options.listen.empty())
    return options.listen;
  if (!cluster.seeds.empty() && is_loopback(host_of(cluster.seeds.front())))
    return "127.0.0.1:0";
  if (!cluster.source || cluster.source->takes_announcements())
    throw error{
        invalid("--listen is required: the address of this machine on which the task listens")};
  auto end = std::chrono::steady_clock::now() + options.join_timeout;
  for (;;) {
    auto address = address_of(cluster.known, self);
    if (address || !options.cluster.starts_with("file:"))
      return value_or_throw(std::move(address));
    if (std::chrono::steady_clock::now() > end)
      throw error{address.status().with_context(cluster.source->name())};
    timespec pause{0, 200'000'000};
    if (sigtimedwait(&stop, nullptr, &pause) > 0)
      return {};
    if (auto addresses = cluster.source->read())
      cluster.known = *std::move(addresses);
  }
}

void serve(const worker_options& options) {
  if (options.cluster.empty() == options.join.empty())
    throw CLI::RequiredError{"--cluster or --join"};
  auto cluster = value_or_throw(
      find_cluster(options.join.empty() ? options.cluster : concat("join:", options.join)));
  auto self = value_or_throw(own_task(cluster, options.job, options.task));
  ::signal(SIGPIPE, SIG_IGN); // the reader of our output may end
  auto stop = block_stop_signals();
  auto address = own_address(options, cluster, self, stop);
  if (!address)
    return;
  std::mutex failure_mutex; // guards `failed`, which threads of the runtime write
  status failed;
  auto running = value_or_throw(task::start({
      .ops = &library(),
      .make_devices = [chosen = options.devices] { return make_devices(chosen); },
      .cluster = cluster,
      .self = self,
      .listen = *address,
      .tls = options.security.tls,
      .access_list = options.access,
      .insecure = options.security.insecure,
      .inter_op_threads = options.inter_op_threads,
      .deterministic = options.deterministic,
      .gpu_launch_threads = options.gpu_launch_threads,
      .same_host_reads = options.same_host_reads,
      .on_warning = warnings_of(options.log),
      .on_failure =
          [&](const status& cause) {
            {
              std::lock_guard guard{failure_mutex};
              failed = cause;
            }
            ::kill(::getpid(), SIGTERM);
          },
      .on_log = log_to_stderr(options.log, options.log_level),
      .on_drain = [] { ::kill(::getpid(), SIGTERM); },
      .http = options.http,
      .http_allow_remote = options.http_allow_remote,
      .advertise = options.advertise,
      .join_timeout = options.join_timeout,
      .give_up = [&] { return sigtimedwait(&stop, nullptr, &no_wait) > 0; },
      .hosting = options.hosting,
      .initialize_before_serving = options.initialize_before_serving,
  }));
  std::cout << "listening on " << host_of(*address) << ':' << running->port() << " as "
            << running->self() << std::endl; // flushed, because the parent process may wait for it
  if (running->http_port() != 0)
    std::cout << "serving http://" << host_of(options.http) << ':' << running->http_port()
              << std::endl;
  int signal = 0;
  sigwait(&stop, &signal);
  auto problem = [&] {
    std::lock_guard guard{failure_mutex};
    return failed;
  }();
  throw_if_failed(std::move(problem));
  drain(*running, stop, options.drain_seconds);
}

void add_cluster_options(CLI::App& command, worker_options& options) {
  command.add_option("--job", options.job,
                     "The job of the task; by default from the environment, or "
                     "worker");
  command
      .add_option("--task", options.task,
                  "Its index within the job; by default from the environment, or 0; with --join or "
                  "etcd, a free one")
      ->check(CLI::NonNegativeNumber);
  command.add_option(
      "--cluster", options.cluster,
      "The tasks (docs/clusters.md): a file with their addresses, "
      R"(the text of such a file, {"worker": ["127.0.0.1:7001"]}, or file:PATH, dns:..., )"
      "slurm:..., kubernetes:..., etcd:...");
  command.add_option(
      "--join", options.join,
      "host:port,... of tasks that know the others, instead of --cluster: the task at "
      "the first assigns the index of this task, if it has none");
  command
      .add_option_function<double>(
          "--join-timeout",
          [&options](double seconds) {
            options.join_timeout = std::chrono::milliseconds{static_cast<int64_t>(seconds * 1000)};
          },
          "Timeout in seconds until a file names this task, or it has an index")
      ->check(CLI::Range(0.0, 1e6));
  command.add_option("--listen", options.listen, "host:port instead of the address in the cluster");
  command.add_option("--advertise", options.advertise,
                     "host:port by which others reach this task, with --join or etcd; by default "
                     "that of --listen");
}

void add_operator_options(CLI::App& command, worker_options& options) {
  command.add_option("--http", options.http,
                     "host:port where /metrics, /healthz, /readyz and /v1/node/ are served; "
                     "port 0: any");
  command.add_flag("--http-allow-remote", options.http_allow_remote,
                   "Serve it beyond loopback, too: every client can see the work of the task, and "
                   "cannot change anything");
  command
      .add_option("--drain", options.drain_seconds,
                  "Seconds after SIGTERM for running steps to end; no new steps begin")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--log", options.log,
                  "Format of events on standard error: text or json "
                  "lines, or none")
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "json", "none"}));
  command.add_option("--log-level", options.log_level, "Lowest level of events to write")
      ->capture_default_str()
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
}

void add_client_options(CLI::App& command, worker_options& options) {
  add_security(command, options.security);
  command.add_option("--access", options.access,
                     "File with the rights of clients; without one, clients of the authority may "
                     "do all");
  command
      .add_option("--host-sessions", options.hosting.sessions,
                  "Sessions of clients whose master is in this task (master:host:port); 0: none")
      ->capture_default_str();
  command
      .add_option("--host-steps", options.hosting.max_concurrent_steps,
                  "Steps of such sessions that run at once; further ones wait, and clients take "
                  "turns")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      .add_option_function<double>(
          "--initialize-before-serving",
          [&options](double seconds) {
            options.initialize_before_serving =
                std::chrono::milliseconds{static_cast<int64_t>(seconds * 1000)};
          },
          "Run no step that uses the task's state before a session has restored or initialized "
          "it; for this many seconds other steps fail with a retryable error")
      ->check(CLI::Range(0.0, 1e6));
}

void add_processor_options(CLI::App& command, worker_options& options) {
  command
      .add_option("--intra-op-threads", options.devices.intra_op_threads,
                  "Threads that one op may use; 0: one per core")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--inter-op-threads", options.inter_op_threads,
                     "Threads that run ops in parallel; 0: one per core");
  command.add_flag("--deterministic", options.deterministic,
                   "Compute the same bits for any number of threads, for all sessions");
  command
      .add_option("--memory-limit", options.devices.memory_limit,
                  "Bytes for tensors of ops, such as 2GB; 0: no limit")
      ->transform(CLI::AsSizeValue{false});
  command.add_option("--swap-folder", options.devices.swap_space.folder,
                     "Folder for values that loops with swap_memory keep for gradients; default: "
                     "$TMPDIR, else /var/tmp");
  command
      .add_option("--swap-limit", options.devices.swap_space.limit,
                  "Bytes in that folder, such as 20GB; 0: no limit")
      ->transform(CLI::AsSizeValue{false});
}

void add_gpu_options(CLI::App& command, worker_options& options) {
  command.add_option("--gpus", options.devices.gpus, "Number of GPUs; -1: all")
      ->capture_default_str();
  command
      .add_option("--devices-per-gpu", options.devices.devices_per_gpu,
                  "Devices that share each GPU, for tests with several devices")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_flag("--gpu-launch-threads", options.gpu_launch_threads,
                   "Launch the kernels of each GPU from a separate thread");
  command
      .add_option_function<int64_t>(
          "--gpu-watchdog",
          [&options](int64_t seconds) {
            options.devices.gpu_watchdog = std::chrono::seconds{seconds};
          },
          "Seconds without the end of a launch until a GPU that steps wait for is lost; 0: never")
      ->check(CLI::Range(int64_t{0}, max_watchdog_seconds));
}

void add_gpu_kernel_options(CLI::App& command, worker_options& options) {
  command.add_flag("--tf32", options.devices.tf32,
                   "GPUs may round the operands of products of f32 to 10 bits");
  command.add_flag_callback(
      "--cudnn-heuristics", [&options] { options.devices.measure_convolutions = false; },
      "Choose convolution algorithms by cuDNN's heuristic instead of measuring them; run other "
      "layers by kernels without cuDNN");
}

void add_gpu_memory_options(CLI::App& command, worker_options& options) {
  command
      .add_option(
          "--gpu-memory-limit", options.devices.gpu_memory_limit,
          "Bytes of each GPU's device to use at most, such as 40GB; 0: a share of nine tenths")
      ->transform(CLI::AsSizeValue{false});
  command
      .add_option("--gpu-memory-reserve", options.devices.gpu_memory_reserve,
                  "Bytes of each GPU's device to allocate at the start; 0: on demand")
      ->transform(CLI::AsSizeValue{false});
  command
      .add_option_function<int64_t>(
          "--gpu-memory-idle-timeout",
          [&options](int64_t ms) {
            options.devices.gpu_memory_idle = std::chrono::milliseconds{ms};
          },
          "Milliseconds without a new tensor until a GPU releases its cached memory; 0: never")
      ->check(CLI::NonNegativeNumber);
}

} // namespace

void add_worker(CLI::App& app) {
  auto options = std::make_shared<worker_options>();
  auto* command = app.add_subcommand("worker", "Run one task of a cluster, until SIGTERM");
  add_cluster_options(*command, *options);
  add_operator_options(*command, *options);
  add_client_options(*command, *options);
  add_processor_options(*command, *options);
  add_gpu_options(*command, *options);
  command->add_flag(
      "!--no-same-host-reads", options->same_host_reads,
      "Send large tensors through the socket also to processes of this machine, instead "
      "of reading them from their memory");
  add_gpu_kernel_options(*command, *options);
  add_gpu_memory_options(*command, *options);
  command->callback([options] { serve(*options); });
}

} // namespace troupe::cli
