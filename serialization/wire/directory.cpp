#include "troupe/serialization/wire/directory.hpp"

#include "troupe/runtime/cluster/member_list.hpp"
#include "troupe/serialization/config/address_text.hpp"
#include "troupe/serialization/wire/capnp_text.hpp"
#include "troupe/serialization/wire/directory.capnp.h"
#include "troupe/serialization/wire/read_root.hpp"

#include <set>

namespace troupe {
namespace {

constexpr size_t max_refusal_text = 4096, max_address_text = 512, max_job_name = 256;

// -- writing

void write_row(wire::DirectoryRow::Builder to, const directory_row& row) {
  to.setProcess(row.process);
  to.setVersion(row.version);
  auto nodes = to.initNodes(static_cast<unsigned>(row.nodes.size()));
  for (unsigned i = 0; i < nodes.size(); ++i)
    nodes.set(i, as_text(row.nodes[i]));
  auto tasks = to.initTasks(static_cast<unsigned>(row.tasks.size()));
  for (unsigned i = 0; i < tasks.size(); ++i) {
    const auto& entry = row.tasks[i];
    tasks[i].setJob(as_text(entry.task.job));
    tasks[i].setTask(entry.task.task);
    tasks[i].setAddress(as_text(entry.address));
    tasks[i].setIncarnation(entry.incarnation);
    tasks[i].setClaimed(entry.is_claimed);
  }
}

void write_processes(capnp::List<uint64_t>::Builder to, const std::vector<uint64_t>& processes) {
  for (unsigned i = 0; i < to.size(); ++i)
    to.set(i, processes[i]);
}

struct directory_writer {
  wire::DirectoryMessage::Builder root;

  void operator()(const directory_hello& source) {
    auto to = root.initHello();
    to.setProtocol(directory_protocol);
    to.setGuest(source.role == directory_role::guest);
    to.setCluster(as_text(source.cluster));
    write_row(to.initOwn(), source.own);
  }
  void operator()(const directory_list& source) {
    auto to = root.initList();
    to.setSequence(source.sequence);
    to.setInformed(source.is_informed);
    to.setComplete(source.is_complete);
    to.setMore(source.has_more);
    auto rows = to.initRows(static_cast<unsigned>(source.rows.size()));
    for (unsigned i = 0; i < rows.size(); ++i)
      write_row(rows[i], source.rows[i]);
    write_processes(to.initLost(static_cast<unsigned>(source.lost.size())), source.lost);
    write_processes(to.initLeft(static_cast<unsigned>(source.left.size())), source.left);
  }
  void operator()(const directory_beat& source) {
    auto to = root.initBeat();
    to.setLast(source.sequence);
    to.setKnows(source.is_informed);
  }
  void operator()(const directory_again&) { root.setAgain(); }
  void operator()(const directory_leave&) { root.setLeave(); }
  void operator()(const directory_refusal& source) {
    auto to = root.initRefusal();
    to.setKind(static_cast<uint8_t>(source.reason.kind()));
    to.setMessage(as_text(source.reason.message().substr(0, max_refusal_text)));
  }
};

// -- reading

struct directory_reader {
  directory_limits limits = {};
  uint64_t latest_incarnation = 0;

  result<directory_message> read(wire::DirectoryMessage::Reader from) const {
    switch (from.which()) {
      case wire::DirectoryMessage::HELLO: return read(from.getHello());
      case wire::DirectoryMessage::LIST: return read(from.getList());
      case wire::DirectoryMessage::BEAT:
        return directory_message{
            directory_beat{from.getBeat().getLast(), from.getBeat().getKnows()}};
      case wire::DirectoryMessage::AGAIN: return directory_message{directory_again{}};
      case wire::DirectoryMessage::LEAVE: return directory_message{directory_leave{}};
      case wire::DirectoryMessage::REFUSAL: return read(from.getRefusal());
    }
    return damaged_message("a message of an unknown kind");
  }

private:
  result<directory_message> read(wire::DirectoryMessage::Hello::Reader from) const {
    if (from.getProtocol() != directory_protocol)
      return failure(error_kind::failed_precondition, "the directory speaks the protocol ",
                     from.getProtocol(), ", and this one ", directory_protocol);
    if (from.getCluster().size() > max_cluster_name)
      return damaged_message("the name of its cluster has ", from.getCluster().size(),
                             " bytes, and at most ", max_cluster_name, " are allowed");
    TROUPE_ASSIGN(auto own, read(from.getOwn()));
    return directory_message{
        directory_hello{from.getGuest() ? directory_role::guest : directory_role::node,
                        text_of(from.getCluster()), std::move(own)}};
  }

  result<directory_message> read(wire::DirectoryMessage::List::Reader from) const {
    if (uint64_t{from.getRows().size()} + from.getLost().size() + from.getLeft().size() >
        max_directory_rows)
      return damaged_message("a list of more than ", max_directory_rows, " processes");
    directory_list list{from.getSequence(), from.getInformed(), from.getComplete(), from.getMore()};
    if (list.sequence == 0)
      return damaged_message("a list without a sequence number");
    for (auto row : from.getRows()) {
      TROUPE_ASSIGN(auto next, read(row));
      list.rows.push_back(std::move(next));
    }
    for (auto process : from.getLost())
      list.lost.push_back(process);
    for (auto process : from.getLeft())
      list.left.push_back(process);
    return directory_message{std::move(list)};
  }

  result<directory_message> read(wire::DirectoryMessage::Refusal::Reader from) const {
    auto kind = static_cast<error_kind>(from.getKind());
    if (kind == error_kind::ok || to_string(kind) == "unknown") // of a newer peer
      kind = error_kind::internal;
    return directory_message{
        directory_refusal{status{kind, text_of(from.getMessage()).substr(0, max_refusal_text)}}};
  }

  result<directory_row> read(wire::DirectoryRow::Reader from) const {
    directory_row row{from.getProcess(), from.getVersion()};
    if (row.process == 0 || row.version == 0)
      return damaged_message("a row without a process or a version");
    if (from.getNodes().size() > limits.endpoints ||
        from.getTasks().size() > limits.tasks_of_process)
      return damaged_message("a row of ", from.getNodes().size(), " nodes and ",
                             from.getTasks().size(), " tasks; it has at most ", limits.endpoints,
                             " and ", limits.tasks_of_process);
    for (auto node : from.getNodes()) {
      TROUPE_ASSIGN(auto address, read_address(node));
      row.nodes.push_back(std::move(address));
    }
    std::set<task_name> names;
    for (auto entry : from.getTasks()) {
      TROUPE_ASSIGN(auto task, read(entry));
      if (!names.insert(task.task).second)
        return damaged_message("a row names ", task.task, " twice");
      row.tasks.push_back(std::move(task));
    }
    return row;
  }

  result<directory_task> read(wire::DirectoryTask::Reader from) const {
    auto job = text_of(from.getJob());
    if (job.size() > max_job_name || !is_job_name(job))
      return damaged_message("'", job.substr(0, max_job_name), "' is not a name of a job");
    if (from.getTask() < 0 || from.getTask() >= max_tasks_of_job)
      return damaged_message("task ", from.getTask(), " of the job '", job, "'; a job has at most ",
                             max_tasks_of_job, " tasks");
    TROUPE_ASSIGN(auto address, read_address(from.getAddress()));
    task_name name{std::move(job), from.getTask()};
    if (from.getIncarnation() > latest_incarnation)
      return invalid(name, " has an incarnation more than a day ahead: set the clocks of the "
                           "machines of the cluster");
    return directory_task{std::move(name), std::move(address), from.getIncarnation(),
                          from.getClaimed()};
  }

  static result<std::string> read_address(capnp::Text::Reader from) {
    auto address = text_of(from);
    if (address.size() > max_address_text || !is_address(address))
      return damaged_message("'", address.substr(0, max_address_text), "' is not an address");
    return address;
  }
};

} // namespace

std::vector<char> encode(const directory_message& message) {
  capnp::MallocMessageBuilder builder;
  std::visit(directory_writer{builder.initRoot<wire::DirectoryMessage>()}, message);
  auto words = capnp::messageToFlatArray(builder);
  auto bytes = words.asChars();
  return {bytes.begin(), bytes.end()};
}

result<directory_message> decode_directory(std::span<const char> bytes,
                                           uint64_t latest_incarnation) {
  if (bytes.size() > max_directory_bytes)
    return failure(error_kind::resource_exhausted, "a message of ", bytes.size(),
                   " bytes; a directory accepts at most ", max_directory_bytes);
  directory_reader reader{.latest_incarnation = latest_incarnation};
  return read_root<result<directory_message>, wire::DirectoryMessage>(
      std::as_bytes(bytes), [&](wire::DirectoryMessage::Reader from) { return reader.read(from); });
}

} // namespace troupe
