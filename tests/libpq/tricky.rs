//! Environments that somebody thought of, because libpq's rules are odd there.

use super::case::Case;

pub fn cases() -> Vec<Case> {
    [pairs(), uris(), variables(), hosts(), services(), pass_files(), tls(), refused()].concat()
}

fn case(name: &str) -> Case {
    Case::named(name)
}

fn at_socket(name: &str) -> Case {
    case(name).db("host={d1} port={p1} user=ops dbname=app")
}

fn all(about: &str, addresses: &[&str]) -> Vec<Case> {
    addresses.iter().map(|address| case(&format!("{about}: {address}")).db(*address)).collect()
}

fn pairs() -> Vec<Case> {
    all(
        "pairs",
        &[
            "host={d1} port={p1} user=ops password=secret dbname=app",
            "  host = {d1}\tport\n=\r{p1}  ",
            "host={d1} port={p1} user='two words' password='it\\'s' dbname=a\\ b",
            "host='{d1}' port='{p1}' user='' password=''",
            r"host={d1} port={p1} password=back\\slash\x user=q\'q",
            r"host={d1} port={p1} password='\\\'' user='a\b'",
            "host={d1} port={p1} password='a''b'",
            "host={d1} port={p1} user=a'b password=x'",
            "host={d1} port={p1} password=ends\\",
            "host={d1} port={p1} user=first user=second password=1 password=2",
            "host=nowhere.invalid host={d1} port=1 port={p1}",
            "host={d1} port={p1} user= password=x",
            "host={d1} port={p1} dbname='host=nowhere.invalid user=x'",
            "host={d1} port={p1} dbname='postgres://nowhere.invalid/x'",
            "host={d1} port={p1} password=a=b=c user==",
            "host={d1} port={p1} application_name='my app' options='-c geqo=off'",
            "host={d1} port={p1} application_name='' options=''",
            "host={d1} port={p1} connect_timeout=-5 keepalives=0 keepalives_idle=9",
            "host={d1} port={p1} connect_timeout=' 7 '",
            "host={d1} port=' {p1}'",
            "host={d1} port=+{p1}",
            "port={p1} host={d1} user=\u{fc}ser password=\u{1F511} dbname=\u{65e5}\u{672c}",
            "host={d1} port={p1} client_encoding=UTF8",
            "host={d1} port={p1} replication=false",
            "host={d1} port={p1} gssencmode=disable channel_binding=disable",
            "host={d1} port={p1} requiressl=1",
            "host=127.0.0.1 port={p1} requiressl=1",
            "host=127.0.0.1 port={p1} requiressl=0",
            "host={d1} port={p1} user=a\u{b}password=b\u{c}dbname=c",
        ],
    )
}

fn uris() -> Vec<Case> {
    all(
        "uri",
        &[
            "postgres://ops:secret@127.0.0.1:{p1}/app",
            "postgresql://ops@localhost:{p1}",
            "postgres://{e1}:{p1}/app",
            "postgres://ops:p%40ss%2Fw%3Ao%25rd@{e1}:{p1}/a%2Fb%3Fc",
            "postgres://%6fps:%73@{e1}:{p1}/%61pp?application_name=%6d%79&user=other",
            "postgres:///app?host={d1}&port={p1}&user=ops&password=secret",
            "postgres://ops:secret@/app?host={e1}&port={p1}",
            "postgres://:secret@{e1}:{p1}",
            "postgres://@{e1}:{p1}",
            "postgres://ops:@{e1}:{p1}/",
            "postgres://ops:a:b:c@{e1}:{p1}/",
            "postgres://ops@{e1}:{p1}/app/with/slashes@sign",
            "postgres://ops@{e1}:{p1}/?dbname=app&dbname=other",
            "postgres://ops@{e1}:{p1}?dbname=app",
            "postgres://ops@{e1}:{p1}/app?&user=x",
            "postgres://ops@{e1}:{p1}/app?user=x&",
            "postgres://ops@{e1}:{p1}/app?",
            "postgres://ops@{e1}:{p1}/app?application_name=",
            "postgres://ops@{e1}:{p1}/app?user=",
            "postgres://ops@127.0.0.1:{p1}/app?ssl=true",
            "postgres://ops@127.0.0.1:{p1}/app?ssl=false",
            "postgres://ops@127.0.0.1:{p1}/app?requiressl=1",
            "postgres://ops@[::1]:{p1}/app",
            "postgres://ops@[::1]/app?port={p1}",
            "postgres://[127.0.0.1]:{p1}/app",
            "postgres://ops@127.0.0.1:1,127.0.0.1:{p1}/app",
            "postgres://ops@127.0.0.1,{e1}:{p1}/app?port=1,{p2}",
            "postgres://ops@{e1},{e2}:{p2}/app?port={p1}",
            "postgres://ops@127.0.0.1:{p1}/app?host={d2}",
            "postgres://ops@127.0.0.1:{p1}/app?hostaddr=127.0.0.1&host=not.looked.up.invalid",
            "postgres://ops@{e1}:{p1}/app?options=-c%20geqo%3Doff%20-c%20work_mem%3D1MB",
            "postgres://ops@{e1}:{p1}/app?target_session_attrs=read-write&connect_timeout=3",
            "postgres://ops@{e1}:{p1}/app#fragment",
            "postgres://u+v:p+w@{e1}:{p1}/a+b",
            "postgres://ops;x@{e1}:{p1}/a;b",
            "postgres://ops@{e1}:0{p1}/app",
        ],
    )
}

fn variables() -> Vec<Case> {
    vec![
        case("all from the environment")
            .env("PGHOST={d1} PGPORT={p1} PGUSER=ops PGDATABASE=app PGPASSWORD=secret PGAPPNAME=deploy")
            .var("PGOPTIONS", "-c geqo=off"),
        case("the address before the environment").db("host={d1} user=ops").env("PGHOST={d2} PGUSER=other PGPORT={p1}"),
        case("PGHOSTADDR alone").env("PGHOSTADDR=127.0.0.1 PGPORT={p1}"),
        case("PGHOSTADDR beside PGHOST").env("PGHOST=x.invalid PGHOSTADDR=127.0.0.1 PGPORT={p2}"),
        case("PGHOSTADDR beats a socket").db("host={d1} port={p1}").var("PGHOSTADDR", "127.0.0.1"),
        case("several of each").env("PGHOST={d1},{d2} PGPORT=1,{p2}"),
        case("an empty key in the address hides the variable")
            .db("host={d1} port={p1} user='' password=''")
            .env("PGUSER=other PGPASSWORD=secret"),
        case("a URL that says nothing leaves it to the variables")
            .db("postgres://")
            .env("PGHOST={d1} PGPORT={p1} PGDATABASE=app"),
        case("an empty part of a URL leaves it to the variable")
            .db("postgres://:@{e1}/")
            .env("PGPORT={p1} PGUSER=ops PGPASSWORD=secret PGDATABASE=app"),
        case("commas of a URL hide the port").db("postgres://{e1},{e2}/").var("PGPORT", "{p1}"),
        case("PGDATABASE is not taken apart")
            .var("PGDATABASE", "host=nowhere.invalid user=x")
            .env("PGHOST={d1} PGPORT={p1}"),
        case("PGREQUIRESSL").db("host=127.0.0.1 port={p1}").var("PGREQUIRESSL", "1"),
        case("PGREQUIRESSL that says no").db("host=127.0.0.1 port={p1}").var("PGREQUIRESSL", "0"),
        case("PGREQUIRESSL beside PGSSLMODE").db("host=127.0.0.1 port={p1}").env("PGREQUIRESSL=1 PGSSLMODE=disable"),
        case("PGPASSWORD before the file")
            .db("host={d1} port={p1} user=ops")
            .var("PGPASSWORD", "secret")
            .passes("*:*:*:*:file"),
        case("the user of the process").db("host={d1} port={p1}").env("USER=liar LOGNAME=liar"),
        case("a target that is not reached").db("host={d1} port={p1}").var("PGTARGETSESSIONATTRS", "standby"),
        case("a time").db("host={d1} port={p1}").var("PGCONNECT_TIMEOUT", "5"),
        case("an encoding").db("host={d1} port={p1}").var("PGCLIENTENCODING", "UTF8"),
        case("the name of the connection").db("host={d1} port={p1} application_name=mine").var("PGAPPNAME", "other"),
    ]
}

fn hosts() -> Vec<Case> {
    let mut cases = all(
        "hosts",
        &[
            "host=127.0.0.1,{d1} port=1,{p1} user=ops",
            "host={d1},{d2} port={p1} user=ops password=x",
            "host=127.0.0.1,{d2} port={starting},{p2} user=ops password=x",
            "host=127.0.0.1,127.0.0.1,{d2} port={starting},1,{p2} sslmode=disable",
            "host=127.0.0.1,{d2} port={starting},{p2} user=ops password=x sslmode=allow",
            "host=127.0.0.1,{d2} port={p1},{p2} user=ops",
            "host=127.0.0.1,{d2} port={p1},{p2} user=ops sslmode=require password=x",
            "host=127.0.0.1,{d2} port={p1},{p2} user=ops sslmode=allow password=x",
            "host=/nonexistent,{d2} port={p2}",
            "host=nowhere.invalid,{d2} port={p2}",
            "host=127.0.0.1 port=1",
            "host=/nonexistent port={p1}",
            "hostaddr=127.0.0.1 port={p1}",
            "hostaddr=127.0.0.1,127.0.0.1 port=1,{p2} host=a.invalid,b.invalid",
            "hostaddr=,127.0.0.1 host={d1},x.invalid port={p1}",
            "hostaddr=127.0.0.1, host=x.invalid,{d1} port=1,{p2}",
            "hostaddr=::1 port={p1}",
            "host=::1 port={p1}",
            "hostaddr=127.0.0.1 host='' port={p1}",
            "host={d1} port={p1},",
            "host={d1},{d2} port=1,{p1},{p2}",
            "host={d1},{d2} port={p1},",
            "host=localhost,localhost port=,{p1}",
            "host=a,b hostaddr=127.0.0.1",
            "hostaddr=127.0.0.1,127.0.0.1 host=a port={p1}",
            "host={d1} port=0",
            "host={d1} port=65536",
            "host={d1} port=-1",
            "host={d1} port=x",
            "host={d1} port={p1}x",
            "host={d1} port='{p1} 1'",
        ],
    );
    cases.push(case("the usual socket, where nobody listens").db("port={p1} user=ops"));
    cases
}

fn services() -> Vec<Case> {
    const FILE: &str = "# ours\n\n[other]\nhost=nowhere.invalid\n[app]\nhost={d1}\nport={p1}\n\
                        user=ops\npassword=secret\ndbname=shop\n\n[app]\nuser=second\n";
    let of = |name: &str, text: &str| case(name).db("service=app").services(text);
    vec![
        case("a service by its variable").var("PGSERVICE", "app").services(FILE),
        case("a service by its key").db("service=app").services(FILE),
        case("a service in a URL").db("postgres:///?service=app").services(FILE),
        case("a service in a file that is named")
            .db("service=app")
            .file("services", FILE)
            .services("[app]\nuser=wrong\n")
            .var("PGSERVICEFILE", "{home}/services"),
        case("a service of the system")
            .db("service=app")
            .file("etc/pg_service.conf", FILE)
            .var("PGSYSCONFDIR", "{home}/etc"),
        case("a service of the system, where there is a file of one's own too")
            .db("service=app")
            .services("[else]\nuser=x\n")
            .file("etc/pg_service.conf", FILE)
            .var("PGSYSCONFDIR", "{home}/etc"),
        case("a service of one's own before the system's")
            .db("service=app")
            .services(FILE)
            .file("etc/pg_service.conf", "[app]\nuser=wrong\n")
            .var("PGSYSCONFDIR", "{home}/etc"),
        case("a service of the system, where the named file lacks it")
            .db("service=app")
            .file("services", "[else]\nuser=x\n")
            .var("PGSERVICEFILE", "{home}/services")
            .file("etc/pg_service.conf", FILE)
            .var("PGSYSCONFDIR", "{home}/etc"),
        case("a file that is named and not there").db("service=app").var("PGSERVICEFILE", "{home}/none").services(FILE),
        case("the address before the service").db("service=app user=mine port={p2}").services(FILE),
        case("the service before the variables")
            .db("service=app")
            .services(FILE)
            .env("PGUSER=other PGPASSWORD=other PGAPPNAME=named"),
        case("the key before its variable").db("service=app").services(FILE).var("PGSERVICE", "other"),
        case("no such service").db("service=none host={d1} port={p1}").services(FILE),
        case("no service file").db("service=app host={d1} port={p1}"),
        case("a service by a part of its name").db("service=ap host={d1} port={p1}").services(FILE),
        case("a service with more behind its bracket")
            .db("service=app")
            .services("[app] # ours\nhost={d1}\nport={p1}\n"),
        case("a service with more in its bracket").db("service=app").services("[apple]\nhost={d1}\nport={p1}\n"),
        of("blanks at both ends", " \t[app]\t \n  host={d1}  \n\tport={p1}\t\n"),
        of("blanks around the equals sign", "[app]\nhost = {d1}\nport={p1}\n"),
        of("a blank before the value", "[app]\nhost={d1}\nport={p1}\nuser= ops\n"),
        of("a comment behind a value", "[app]\nhost={d1}\nport={p1}\nuser=ops # me\n"),
        of("quotes are no quotes", "[app]\nhost={d1}\nport={p1}\nuser='ops'\npassword=\"x\\y\"\n"),
        of("the first of two lines counts", "[app]\nhost={d1}\nport={p1}\nuser=one\nuser=two\n"),
        of("an equals sign in a value", "[app]\nhost={d1}\nport={p1}\npassword=a=b\nuser==\n"),
        of("an empty value", "[app]\nhost={d1}\nport={p1}\nuser=\n").var("PGUSER", "other"),
        of("ends of lines as DOS has them", "[app]\r\nhost={d1}\r\nport={p1}\r\nuser=ops\r\n"),
        of("no end of the last line", "[app]\nhost={d1}\nport={p1}\nuser=ops"),
        of("an unknown key", "[app]\nhost={d1}\nport={p1}\nbogus=1\n"),
        of("an unknown key elsewhere", "[x]\nbogus=1\n[app]\nhost={d1}\nport={p1}\n[y]\nbogus\n"),
        of("a line without a value", "[app]\nhost={d1}\nport={p1}\nuser\n"),
        of("a line without a value before any group", "rubbish\n[app]\nhost={d1}\nport={p1}\n"),
        of("a service in a service", "[app]\nhost={d1}\nport={p1}\nservice=other\n[other]\nuser=x\n"),
        of("an old word for TLS", "[app]\nhost=127.0.0.1\nport={p1}\nrequiressl=1\n"),
        of("the longest line", &format!("[app]\nhost={{d1}}\nport={{p1}}\npassword={}\n", "x".repeat(1012))),
        of("a line too long", &format!("[app]\nhost={{d1}}\nport={{p1}}\npassword={}\n", "x".repeat(1014))),
        of("a line too long elsewhere", &format!("# {}\n[app]\nhost={{d1}}\nport={{p1}}\n", "x".repeat(1024))),
        of("a line too long afterwards", &format!("[app]\nhost={{d1}}\nport={{p1}}\n[b]\n# {}\n", "x".repeat(1024))),
        of("a byte order mark", "\u{feff}[app]\nhost={d1}\nport={p1}\n"),
        of("a TLS mode", "[app]\nhost=127.0.0.1\nport={p1}\nsslmode=require\n").var("PGSSLMODE", "disable"),
        case("a service with a blank in its name")
            .db("service='my app'")
            .services("[my app]\nhost={d1}\nport={p1}\nuser=ops\n"),
    ]
}

fn pass_files() -> Vec<Case> {
    let of = |name: &str, text: &str| at_socket(name).passes(text);
    let tcp = |name: &str, text: &str| case(name).db("host=127.0.0.1 port={p1} user=ops dbname=app").passes(text);
    vec![
        of("stars", "*:*:*:*:secret\n"),
        of("the directory of the socket", "{d1}:{p1}:app:ops:secret\n"),
        of("localhost is not a directory", "localhost:{p1}:app:ops:secret\n"),
        of("the first that fits", "{d1}:{p1}:app:other:1\n{d1}:*:app:ops:2\n*:*:*:*:3\n"),
        of("comments and empty lines", "# {d1}:*:*:*:no\n\n#*:*:*:*:no\n{d1}:*:*:*:yes\n"),
        of("a blank before a comment", " #*:*:*:*:no\n*:*:*:*:yes\n"),
        of("colons in the password", "*:*:*:*:a:b:c\n"),
        of("colons with backslashes in the password", r"*:*:*:*:a\:b\\c\d"),
        of("a backslash at the end of the password", "*:*:*:*:secret\\"),
        of("a backslash at the end of the line", "*:*:*:*:secret\\\n"),
        of("an empty password", "*:*:*:*:\n"),
        of("an empty password before another", "*:*:*:*:\n*:*:*:*:secret\n"),
        of("ends of lines as DOS has them", "*:*:x:*:no\r\n*:*:*:*:yes\r\n"),
        of("ends of lines as DOS has them, the last one half", "*:*:*:*:yes\r"),
        of("two ends of a line", "*:*:*:*:yes\r\r\n"),
        of("blanks count", "*:*:*:* :no\n*:*:*:*: yes \n"),
        of("a star with more", "*x:*:*:*:no\n*:*:*:ops*:no\n*:*:*:*:yes\n"),
        of("too few fields", "*:*:*:secret\n*:*:*:*\n"),
        of("a prefix is not enough", "*:*:ap:ops:no\n*:*:appl:ops:no\n*:*:app:op:no\n*:*:app:opsy:no\n"),
        of("no end of the last line", "*:*:*:*:secret"),
        of("an empty field", ":{p1}:app:ops:no\n*::app:ops:no\n"),
        of("a long line", &format!("*:*:*:*:{}\n", "long".repeat(200))),
        of("letters beyond ASCII", "*:*:*:*:\u{fc}\u{1F511}\n"),
        at_socket("a file for all to read").file_of_mode(".pgpass", "*:*:*:*:secret", 0o644),
        at_socket("a file for the group to read").file_of_mode(".pgpass", "*:*:*:*:secret", 0o640),
        at_socket("a file for the group to run").file_of_mode(".pgpass", "*:*:*:*:secret", 0o610),
        at_socket("a file for its owner to run").file_of_mode(".pgpass", "*:*:*:*:secret", 0o700),
        at_socket("a directory").file(".pgpass/x", ""),
        at_socket("a file that is named")
            .passes("*:*:*:*:no")
            .file("passes", "*:*:*:*:yes")
            .var("PGPASSFILE", "{home}/passes"),
        at_socket("a file that is named and not there").passes("*:*:*:*:no").var("PGPASSFILE", "{home}/none"),
        case("a file that the address names")
            .db("host={d1} port={p1} passfile={home}/passes")
            .file("passes", "*:*:*:*:yes")
            .file("others", "*:*:*:*:no")
            .var("PGPASSFILE", "{home}/others"),
        case("a file that the service names")
            .db("service=app")
            .services("[app]\nhost={d1}\nport={p1}\npassfile={home}/passes\n")
            .file("passes", "*:*:*:*:yes"),
        case("an empty password in the address leaves it to the file")
            .db("host={d1} port={p1} user=ops password=''")
            .passes("*:*:*:*:yes"),
        case("escapes in a field").db(r"host={d1} port={p1} user='a:b' dbname='c\\d'").passes("*:*:c\\\\d:a\\:b:yes\n"),
        case("colons without escapes").db("host={d1} port={p1} user='a:b'").passes("*:*:*:a:b:no\n"),
        case("a star as a name").db("host={d1} port={p1} user=*").passes("*:*:*:\\*:yes\n*:*:*:*:no\n"),
        case("an IPv6 host").db("host=::1 hostaddr=127.0.0.1 port={p1}").passes("\\:\\:1:*:*:*:yes\n"),
        case("a password for each of two hosts")
            .db("host=127.0.0.1,{d1} port=1,{p1} user=ops")
            .passes("127.0.0.1:*:*:*:no\n{d1}:*:*:*:yes\n"),
        case("a password for the other host only")
            .db("host=127.0.0.1,{d1} port={p1} user=ops")
            .passes("{d1}:*:*:*:no\n"),
        tcp("localhost is not 127.0.0.1", "localhost:*:*:*:no\n127.0.0.1:*:*:*:yes\n"),
        case("127.0.0.1 is not localhost")
            .db("host=localhost port={p1}")
            .passes("127.0.0.1:*:*:*:no\nlocalhost:*:*:*:yes\n"),
        case("the name before the address")
            .db("host=x.invalid hostaddr=127.0.0.1 port={p1}")
            .passes("127.0.0.1:*:*:*:no\nx.invalid:*:*:*:yes\n"),
        case("the address where there is no name").db("hostaddr=127.0.0.1 port={p1}").passes("127.0.0.1:*:*:*:yes\n"),
        case("the user as the database").db("host={d1} port={p1} user=ops").passes("*:*:ops:ops:yes\n"),
        case("the socket's directory with a slash at its end").db("host={d1}/ port={p1}").passes("{d1}:*:*:*:no\n"),
        case("the usual socket is localhost").db("port={p1} user=ops").passes("localhost:*:*:*:yes\n"),
    ]
}

fn tls() -> Vec<Case> {
    let mut cases: Vec<Case> = ["disable", "allow", "prefer", "require"]
        .iter()
        .flat_map(|mode| {
            [
                case(&format!("TCP, {mode}")).db(format!("host=127.0.0.1 port={{p1}} password=x sslmode={mode}")),
                case(&format!("TCP, {mode}, no password")).db(format!("host=127.0.0.1 port={{p1}} sslmode={mode}")),
                case(&format!("a socket, {mode}")).db(format!("host={{d1}} port={{p1}} password=x sslmode={mode}")),
                case(&format!("PGSSLMODE={mode}")).db("postgres://ops:x@localhost:{p1}/app").var("PGSSLMODE", *mode),
            ]
        })
        .collect();
    cases.push(case("TCP, nothing said").db("host=127.0.0.1 port={p1} password=x"));
    cases.push(case("a socket, verify-full").db("host={d1} port={p1} password=x sslmode=verify-full"));
    cases.push(case("a server that starts, prefer").db("host=127.0.0.1 port={starting}"));
    cases.push(case("a server that starts, allow").db("host=127.0.0.1 port={starting} sslmode=allow"));
    cases
}

fn refused() -> Vec<Case> {
    let mut cases = all(
        "refused",
        &[
            "host={d1} port={p1} bogus=1",
            "host={d1} port={p1} Host={d2}",
            "host={d1} port={p1} user",
            "host={d1} port={p1} user ops",
            "host={d1} port={p1} password='open",
            "host={d1} port={p1} password='open\\'",
            "host={d1} port={p1} sslmode=bogus",
            "host={d1} port={p1} sslmode=REQUIRE",
            "host={d1} port={p1} sslmode=",
            "host={d1} port={p1} target_session_attrs=master",
            "host={d1} port={p1} target_session_attrs=''",
            "host={d1} port={p1} channel_binding=yes",
            "host={d1} port={p1} channel_binding=''",
            "host={d1} port={p1} gssencmode=no",
            "host={d1} port={p1} connect_timeout=soon",
            "host={d1} port={p1} connect_timeout=''",
            "host={d1} port={p1} connect_timeout=99999999999",
            "host={d1} port={p1} ssl_min_protocol_version=TLSv9",
            "host={d1} port={p1} ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=TLSv1.2",
            "host={d1} port={p1} service=''",
            "bogus=1 host={d1} port={p1}",
            "=x host={d1} port={p1}",
            "postgres://ops@{e1}:{p1}/app?bogus=1",
            "postgres://ops@{e1}:{p1}/app?user",
            "postgres://ops@{e1}:{p1}/app?user=a=b",
            "postgres://ops@{e1}:{p1}/app?user=a&&port={p1}",
            "postgres://ops@{e1}:{p1}/app?user=%0",
            "postgres://ops@{e1}:{p1}/app?user=%00",
            "postgres://ops@{e1}:{p1}/app?sslmode=",
            "postgres://ops@{e1}:{p1}/app?ssl=1",
            "postgres://o%ps@{e1}:{p1}/app",
            "postgres://ops:100%@{e1}:{p1}/app",
            "postgres://ops@[::1:{p1}/app",
            "postgres://ops@[]:{p1}/app",
            "postgres://ops@[::1]x:{p1}/app",
            "postgres://ops@127.0.0.1:x/app",
            "postgres://ops@127.0.0.1:{p1}:{p2}/app",
            "postgres://ops@127.0.0.1:{p1}%/app",
            "Postgres://ops@127.0.0.1:{p1}/app?user=x",
            " postgres://ops@127.0.0.1:{p1}/app?user=x",
        ],
    );
    cases.extend([
        at_socket("a mode that is none").var("PGSSLMODE", "bogus"),
        at_socket("attributes that are none").var("PGTARGETSESSIONATTRS", "bogus"),
        at_socket("a time that is none").var("PGCONNECT_TIMEOUT", "bogus"),
        at_socket("a service that is none").var("PGSERVICE", "bogus"),
        case("a port that is none").db("host={d1}").var("PGPORT", "bogus"),
        case("an address that is none").db("port={p1}").var("PGHOSTADDR", "bogus"),
        case("hosts and addresses that do not match").env("PGHOST=a,b PGHOSTADDR=127.0.0.1"),
        case("ports and hosts that do not match").db("host={d1}").var("PGPORT", "1,2"),
    ]);
    cases
}
