// troupe certs: creates a private certificate authority for a cluster, and certificates of its
// tasks and clients.
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
constexpr int max_days = 36'500;

struct certs_options {
  std::string folder, cluster, job = "worker", client;
  std::optional<int> task;
  int days = 365;
  bool replace = false;
};

void write(const std::string& path, const std::string& text, bool replace) {
  auto written = write_private_file(path, text, replace);
  if (written.kind() == error_kind::already_exists)
    throw error{std::move(written).with_suffix("; --replace overwrites it")};
  throw_if_failed(std::move(written));
}

// Writes the certificate last, so that a process that reloads both after a change finds the
// matching key.
void write_pair(const std::string& folder, const std::string& name, const certified_key& pair,
                bool replace) {
  auto certificate = path_in(folder, name + ".pem"), key = path_in(folder, name + ".key");
  write(key, pair.key, replace);
  write(certificate, pair.certificate, replace);
  std::cout << certificate << '\n' << key << '\n';
}

void make_authority(const certs_options& options) {
  throw_if_failed(real_files().make_folder(options.folder));
  auto authority = value_or_throw(certificate_authority::make(validity::for_days(options.days)));
  write_pair(options.folder, authority_name, authority.pem(), options.replace);
}

void issue(const certs_options& options, const certificate_name& name) {
  // Rejects a name that could not be parsed from the certificate.
  value_or_throw(certificate_name::parse(to_string(name)));
  auto path = path_in(options.folder, authority_name);
  auto read = [&](const std::string& ending) {
    auto content = read_file(path + ending);
    if (!content)
      throw error{content.status().with_suffix(
          concat("; troupe certs init ", options.folder, " creates one"))};
    return *std::move(content);
  };
  auto authority = certificate_authority::read({read(".pem"), read(".key")});
  if (!authority)
    throw error{authority.status().with_context(path + ".pem, .key")};
  auto file = name.is_client() ? "client-" + name.client : name.job;
  if (name.task)
    file += concat('-', *name.task);
  std::ranges::replace(file, '/', '_');
  write_pair(options.folder, file,
             value_or_throw(authority->issue({name}, validity::for_days(options.days))),
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

void add_certs(CLI::App& app) {
  auto chosen = std::make_shared<certs_options>();
  auto* command = app.add_subcommand(
      "certs", "A private authority, and certificates that it signs, for TLS in a cluster");
  command->require_subcommand(1);
  auto add = [&](const char* name, const char* doc, bool of_certificate = true) {
    auto* subcommand = command->add_subcommand(name, doc);
    subcommand
        ->add_option("folder", chosen->folder, "Where its files are: authority.pem, authority.key")
        ->required();
    subcommand->add_flag("--replace", chosen->replace, "Overwrite existing files");
    if (of_certificate)
      subcommand->add_option("--days", chosen->days, "Days for which it is valid")
          ->capture_default_str()
          ->check(CLI::Range(1, max_days));
    return subcommand;
  };
  add("init", "Create an authority; its key can admit processes to the cluster")
      ->callback([chosen] { make_authority(*chosen); });
  auto* task = add("task", "Create a certificate of a task, or of all tasks of a job");
  task->add_option("--job", chosen->job, "The job of the task")->capture_default_str();
  task->add_option("--task", chosen->task,
                   "Its index; by default the certificate is valid for all tasks of the job")
      ->check(CLI::NonNegativeNumber);
  task->callback([chosen] {
    issue(*chosen, chosen->task
                       ? certificate_name::of_task(chosen->cluster, {chosen->job, *chosen->task})
                       : certificate_name::of_job(chosen->cluster, chosen->job));
  });
  auto* client = add("client", "Create a certificate of a client");
  client->add_option("--name", chosen->client, "Its name in logs")->required();
  client->callback(
      [chosen] { issue(*chosen, certificate_name::of_client(chosen->cluster, chosen->client)); });
  auto* token =
      add("token", "Create a token of a client, and print its entry for an access list", false);
  token->add_option("--name", chosen->client, "Its name in logs")->required();
  token->callback([chosen] { make_token(*chosen); });
  for (auto* subcommand : {task, client})
    subcommand->add_option("--cluster-name", chosen->cluster,
                           "The name of the cluster in the cluster spec, if it has one");
}

} // namespace troupe::cli
