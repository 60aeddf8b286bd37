// troupe certs: a private authority for a cluster, and certificates of its tasks and clients.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/error.hpp"
#include "troupe/serialization/storage/file.hpp"
#include "troupe/serialization/storage/file_system.hpp"
#include "troupe/serialization/tls/certificate_authority.hpp"
#include "troupe/serialization/tls/private_file.hpp"
#include "troupe/serialization/tls/token.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

namespace troupe::cli {
namespace {

constexpr auto authority_name = "authority";
constexpr int most_days = 36'500;

struct certs_options {
  std::string folder, cluster, job = "worker", client;
  std::optional<int> task;
  int days = 365;
  bool replace = false;
};

void write(const std::string& path, const std::string& text, bool replace) {
  auto written = write_private_file(path, text, replace);
  if (written.kind() == error_kind::already_exists)
    throw error{std::move(written).followed_by("; --replace writes another in its place")};
  throw_if_failed(std::move(written));
}

// The certificate last: who reads both again when it changes finds its key.
void write_pair(const std::string& folder, const std::string& name, const certified_key& what,
                bool replace) {
  auto certificate = path_in(folder, name + ".pem"), key = path_in(folder, name + ".key");
  write(key, what.key, replace);
  write(certificate, what.certificate, replace);
  std::cout << certificate << '\n' << key << '\n';
}

void make_authority(const certs_options& options) {
  throw_if_failed(real_files().make_folder(options.folder));
  auto made = value_or_throw(certificate_authority::make(validity::of_days(options.days)));
  write_pair(options.folder, authority_name, made.pem(), options.replace);
}

void issue(const certs_options& options, const certificate_name& name) {
  // What could not be read back would be of no use.
  value_or_throw(certificate_name::parse(to_string(name)));
  auto path = path_in(options.folder, authority_name);
  auto read = [&](const std::string& ending) {
    auto found = read_file(path + ending);
    if (!found)
      throw error{
          found.status().followed_by(concat("; troupe certs init ", options.folder, " makes one"))};
    return *std::move(found);
  };
  auto authority = certificate_authority::read({read(".pem"), read(".key")});
  if (!authority)
    throw error{authority.status().within(path + ".pem, .key")};
  auto file = name.is_client() ? "client-" + name.client : name.job;
  if (name.task)
    file += concat('-', *name.task);
  std::ranges::replace(file, '/', '_');
  write_pair(options.folder, file,
             value_or_throw(authority->issue({name}, validity::of_days(options.days))),
             options.replace);
}

void make_token(const certs_options& options) {
  throw_if_failed(real_files().make_folder(options.folder));
  auto file = "token-" + options.client;
  std::ranges::replace(file, '/', '_');
  auto path = path_in(options.folder, file);
  auto token = new_token();
  write(path, token + '\n', options.replace);
  std::cout << path << "\nfor the access list of tasks:\n"
            << nlohmann::json(options.client)
                   .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)
            << R"(: {"sha256": ")" << digest_of_token(token) << R"(", "may": ["register", "run"]})"
            << '\n';
}

} // namespace

void add_certs(CLI::App& to) {
  auto chosen = std::make_shared<certs_options>();
  auto* command = to.add_subcommand(
      "certs", "A private authority, and certificates that it signs, for TLS in a cluster");
  command->require_subcommand(1);
  auto add = [&](const char* name, const char* doc, bool of_certificate = true) {
    auto* one = command->add_subcommand(name, doc);
    one->add_option("folder", chosen->folder, "Where its files are: authority.pem, authority.key")
        ->required();
    one->add_flag("--replace", chosen->replace, "Write in the place of files that are there");
    if (of_certificate)
      one->add_option("--days", chosen->days, "How long it is valid")
          ->capture_default_str()
          ->check(CLI::Range(1, most_days));
    return one;
  };
  add("init", "Make an authority; whoever has its key can let processes into the cluster")
      ->callback([chosen] { make_authority(*chosen); });
  auto* task = add("task", "Make a certificate of a task, or of all tasks of a job");
  task->add_option("--job", chosen->job, "The job that it belongs to")->capture_default_str();
  task->add_option("--task", chosen->task, "Its number; else it serves for all of the job")
      ->check(CLI::NonNegativeNumber);
  task->callback([chosen] {
    issue(*chosen, chosen->task
                       ? certificate_name::of_task(chosen->cluster, {chosen->job, *chosen->task})
                       : certificate_name::of_job(chosen->cluster, chosen->job));
  });
  auto* client = add("client", "Make a certificate of a client");
  client->add_option("--name", chosen->client, "Its name, as logs tell it")->required();
  client->callback(
      [chosen] { issue(*chosen, certificate_name::of_client(chosen->cluster, chosen->client)); });
  auto* token = add("token", "Make a token of a client, and what an access list says of it", false);
  token->add_option("--name", chosen->client, "Its name, as logs tell it")->required();
  token->callback([chosen] { make_token(*chosen); });
  for (auto* one : {task, client})
    one->add_option("--cluster-name", chosen->cluster,
                    "The name that the cluster spec gives to the cluster, if it does");
}

} // namespace troupe::cli
