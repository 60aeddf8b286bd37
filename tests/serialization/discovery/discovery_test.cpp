#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "troupe/serialization/discovery/address_source.hpp"
#include "troupe/serialization/discovery/host_list.hpp"

#include <fstream>

namespace troupe::test::discovery_test {
namespace {

using Catch::Matchers::Contains;
using names = std::vector<std::string>;

environment made_of(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    auto entry = values.find(name);
    return entry == values.end() ? std::nullopt : std::optional{entry->second};
  };
}

std::shared_ptr<address_source> source(std::string_view text,
                                       std::map<std::string, std::string> values = {}) {
  auto source_made = make_address_source(text, made_of(std::move(values)));
  INFO(source_made.status());
  REQUIRE(source_made);
  return *source_made;
}

std::string error_of(std::string_view text, std::map<std::string, std::string> values = {}) {
  auto source_made = make_address_source(text, made_of(std::move(values)));
  REQUIRE(!source_made);
  return source_made.status().message();
}

// The addresses of the source as "/job:ps/task:0 a:1, ...".
std::string says(address_source& queried) {
  auto read = queried.read();
  INFO(read.status());
  REQUIRE(read);
  std::string addresses;
  for (const auto& [task, address] : read->tasks)
    addresses += concat(addresses.empty() ? "" : ", ", task, ' ', address);
  return addresses;
}

std::string self(const address_source& queried, const std::string& job = {}) {
  auto own_task = queried.own_task(job);
  INFO(own_task.status());
  REQUIRE(own_task);
  return *own_task ? to_string(**own_task) : "";
}

void write(const std::string& path, const std::string& text) {
  std::ofstream{path + ".new"} << text;
  std::filesystem::rename(path + ".new", path);
}

TEST_CASE("a list of hosts expands as Slurm's does") {
  auto expand = [](std::string_view text) { return *expand_host_list(text, 100); };
  CHECK(expand("login") == names{"login"});
  CHECK(expand("a,b.example") == names{"a", "b.example"});
  CHECK(expand("n[1-3]") == names{"n1", "n2", "n3"});
  CHECK(expand("n[08-10,2]x,y") == names{"n08x", "n09x", "n10x", "n2x", "y"});
  CHECK(expand("r[1-2]n[01-02]") == names{"r1n01", "r1n02", "r2n01", "r2n02"});
  for (const auto* bad : {"", ",", "a,", "n[1", "n1]", "n[]", "n[2-1]", "n[a]", "n[-1]", "n[1-]",
                          "n[[1]]", "a b", "n[1-101]", "n[1-11]m[1-10]", "n[1234567890]"}) {
    INFO(bad);
    auto expanded = expand_host_list(bad, 100);
    CHECK(!expanded);
    CHECK(expanded.status().kind() == error_kind::invalid_argument);
  }
  CHECK_THAT(expand_host_list("n[1-101]", 100).status().message(), Contains("more than 100 hosts"));
}

TEST_CASE("counts expand as Slurm's do") {
  CHECK(*expand_counts("2(x3),1", 100) == std::vector{2, 2, 2, 1});
  CHECK(*expand_counts("4", 100) == std::vector{4});
  for (const auto* bad : {"", "0", "2(x)", "2(x0)", "2(x101)", "(x2)", "2(x2", "1,", "-1", "a"}) {
    INFO(bad);
    CHECK(!expand_counts(bad, 100));
  }
}

TEST_CASE("a cluster spec is a source that never changes") {
  auto spec_source = source(R"({"worker": ["h:1", "h:2"]})");
  CHECK(says(*spec_source) == "/job:worker/task:0 h:1, /job:worker/task:1 h:2");
  CHECK(spec_source->poll_interval().count() == 0);
  CHECK(self(*spec_source).empty());
  CHECK_THAT(error_of(" "), Contains("empty"));
  CHECK_THAT(error_of("{"), Contains("not JSON"));
}

TEST_CASE("a cluster file is read again when it changes, and may be created later") {
  temporary_folder folder;
  auto path = folder.path() + "/cluster.json";
  CHECK_THAT(error_of(path), Contains(path)); // an impossible path is an error
  auto file_source = source("file:" + path);
  CHECK(file_source->read().status().kind() == error_kind::not_found);
  CHECK(file_source->poll_interval().count() > 0);
  CHECK(read_initial_addresses(file_source));
  write(path, R"({"worker": ["h:1"]})");
  CHECK(says(*file_source) == "/job:worker/task:0 h:1");
  CHECK(says(*source(path)) == "/job:worker/task:0 h:1");
  write(path, R"({"worker": ["h:1", "h:22"]})");
  CHECK(says(*file_source) == "/job:worker/task:0 h:1, /job:worker/task:1 h:22");
  write(path, R"({"worker": )");
  CHECK(file_source->read().status().kind() == error_kind::invalid_argument);
  CHECK_THAT(read_initial_addresses(file_source).status().message(), Contains("not JSON"));
  write(path, R"({"worker": ["h:3"]})");
  CHECK(says(*file_source) == "/job:worker/task:0 h:3");
  std::filesystem::remove(path);
  CHECK(file_source->read().status().kind() == error_kind::not_found);
}

TEST_CASE(
    "a pattern's names are the tasks of a job, and the host's own name identifies this task") {
  auto text = "dns:worker*3=worker-{index}.train.svc:7000,ps=ps-{index}.train.svc:7001";
  auto pattern_source = source(text, {{"HOSTNAME", "worker-2"}});
  CHECK(says(*pattern_source) == "/job:ps/task:0 ps-0.train.svc:7001, "
                                 "/job:worker/task:0 worker-0.train.svc:7000, "
                                 "/job:worker/task:1 worker-1.train.svc:7000, "
                                 "/job:worker/task:2 worker-2.train.svc:7000");
  CHECK(self(*pattern_source) == "/job:worker/task:2");
  CHECK_THAT(pattern_source->own_task("ps").status().message(), Contains("/job:worker/task:2"));
  CHECK(self(*source(text, {{"HOSTNAME", "laptop"}})).empty());
  CHECK_THAT(error_of("dns:"), Contains("dns:worker*4="));
  CHECK_THAT(error_of("dns:worker*2"), Contains("{index}"));
  CHECK_THAT(error_of("dns:worker*2=w:1"), Contains("{index}"));
  CHECK_THAT(error_of("dns:worker*2=w-{index}"), Contains("not a pattern of addresses"));
  CHECK_THAT(error_of("dns:worker*0=w-{index}:1"), Contains("number of tasks"));
  CHECK_THAT(error_of("dns:worker*65537=w-{index}:1"), Contains("at most 65536"));
  CHECK_THAT(error_of("dns:a*2=w-{index}:1,a*2=v-{index}:1"), Contains("is listed twice"));
  CHECK_THAT(error_of("dns:a*2=w-{index}:1,b*2=w-{index}:1"), Contains("of /job:a/task:0"));
  CHECK_THAT(error_of("dns:a*2=w-{index}:1,4b=w"), Contains("neither a job"));
}

TEST_CASE("of several tasks of a pattern on one host, the user names that of this process") {
  auto text = "dns:worker*2=node-{index}.train:7000,ps*2=node-{index}.train:7001";
  auto two_jobs = source(text, {{"HOSTNAME", "node-1.train"}});
  CHECK(self(*two_jobs, "ps") == "/job:ps/task:1");
  CHECK(self(*two_jobs, "worker") == "/job:worker/task:1");
  CHECK(two_jobs->own_task("").status().kind() == error_kind::invalid_argument);
  CHECK_THAT(two_jobs->own_task("").status().message(),
             Contains("several tasks on this host: /job:ps/task:1, /job:worker/task:1; say with "
                      "--job and --task"));
  CHECK_THAT(two_jobs->own_task("chief").status().message(),
             Contains("/job:ps/task:1, /job:worker/task:1") && Contains("of 'chief'"));

  auto one_job = source("dns:worker*20=node:70{index}", {{"HOSTNAME", "node"}});
  CHECK_THAT(one_job->own_task("worker").status().message(),
             Contains("/job:worker/task:0, /job:worker/task:1, ") && Contains("and 4 more"));
  CHECK_THAT(one_job->own_task("").status().message(), Contains("--task"));
  CHECK(one_job->read()); // a client on this host needs no task of its own
}

TEST_CASE("a Slurm step's hosts and ranks are its tasks") {
  std::map<std::string, std::string> values{{"SLURM_JOB_NODELIST", "gpu[07-09]"},
                                            {"SLURM_TASKS_PER_NODE", "4(x3)"},
                                            {"SLURM_STEP_NODELIST", "gpu[07-08]"},
                                            {"SLURM_STEP_TASKS_PER_NODE", "2,1"},
                                            {"SLURM_PROCID", "1"}};
  auto slurm_source = source("slurm:ps*1,worker*2,port=9000", values);
  CHECK(says(*slurm_source) == "/job:ps/task:0 gpu07:9000, /job:worker/task:0 gpu07:9001, "
                               "/job:worker/task:1 gpu08:9000");
  CHECK(self(*slurm_source) == "/job:worker/task:0");
  // The last job has the remaining tasks, and without jobs all tasks are workers.
  CHECK(says(*source("slurm:ps*1,worker,port=9000", values)) == says(*slurm_source));
  CHECK(says(*source("slurm", values)) == "/job:worker/task:0 gpu07:7000, "
                                          "/job:worker/task:1 gpu07:7001, "
                                          "/job:worker/task:2 gpu08:7000");
  SECTION("a client in a separate step gives the number of tasks in the allocation") {
    values["SLURM_STEP_NODELIST"] = "gpu09";
    values["SLURM_STEP_TASKS_PER_NODE"] = "1";
    auto client = source("slurm:ps*4,worker*8", values);
    CHECK(client->read()->tasks.size() == 12);
    CHECK(self(*client).empty());
  }
  SECTION("cyclic distribution goes over the hosts") {
    values["SLURM_DISTRIBUTION"] = "cyclic:block";
    CHECK(says(*source("slurm", values)) == "/job:worker/task:0 gpu07:7000, "
                                            "/job:worker/task:1 gpu08:7000, "
                                            "/job:worker/task:2 gpu07:7001");
    values["SLURM_DISTRIBUTION"] = "plane=2";
    CHECK_THAT(error_of("slurm", values), Contains("block or cyclic"));
  }
  SECTION("inconsistent values are reported") {
    CHECK_THAT(error_of("slurm:ps*1,worker*20", values), Contains("21 tasks, but Slurm runs 12"));
    CHECK_THAT(error_of("slurm:ps,worker*2", values), Contains("only the last job"));
    CHECK_THAT(error_of("slurm:port=0", values), Contains("from 1 to 65535"));
    CHECK_THAT(error_of("slurm:port=65535", values), Contains("not enough ports"));
    CHECK_THAT(error_of("slurm", {}), Contains("SLURM_JOB_NODELIST is not set"));
    values["SLURM_PROCID"] = "3";
    CHECK_THAT(error_of("slurm", values), Contains("SLURM_PROCID is '3'"));
    values["SLURM_STEP_TASKS_PER_NODE"] = "2";
    values["SLURM_TASKS_PER_NODE"] = "2";
    CHECK_THAT(error_of("slurm", values), Contains("3 hosts"));
  }
}

TEST_CASE("an indexed Job's pods are its tasks") {
  auto text = "kubernetes:worker*3,service=train,port=7100";
  auto job_source = source(text, {{"HOSTNAME", "mnist-2"}, {"JOB_COMPLETION_INDEX", "2"}});
  CHECK(says(*job_source) == "/job:worker/task:0 mnist-0.train:7100, "
                             "/job:worker/task:1 mnist-1.train:7100, "
                             "/job:worker/task:2 mnist-2.train:7100");
  CHECK(self(*job_source, "worker") == "/job:worker/task:2");
  // A StatefulSet's pod has its number only in its name; a client is not one of its pods.
  CHECK(self(*source(text, {{"HOSTNAME", "mnist-1"}})) == "/job:worker/task:1");
  auto client = source("kubernetes:worker*3,service=train,name=mnist", {{"HOSTNAME", "laptop"}});
  CHECK(self(*client).empty());
  CHECK(client->read()->tasks.at({"worker", 0}) == "mnist-0.train:7000");
  CHECK_THAT(error_of(text, {}), Contains("HOSTNAME is not set"));
  CHECK_THAT(error_of(text, {{"HOSTNAME", "laptop"}}), Contains("'laptop'"));
  CHECK_THAT(error_of(text, {{"HOSTNAME", "mnist-3"}}), Contains("number 3 of 3"));
  CHECK_THAT(error_of(text, {{"HOSTNAME", "m-0"}, {"JOB_COMPLETION_INDEX", "x"}}),
             Contains("not a number"));
  CHECK_THAT(error_of("kubernetes:worker*3", {{"HOSTNAME", "m-0"}}), Contains("service="));
  CHECK_THAT(error_of("kubernetes:worker,service=s", {{"HOSTNAME", "m-0"}}), Contains("one job"));
}

} // namespace
} // namespace troupe::test::discovery_test
