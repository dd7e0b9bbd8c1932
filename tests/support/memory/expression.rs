//! As much of SQL's expressions as the presets of the conformance suite use. Anything else panics: an oracle that guesses is
//! none.

use jobdoctor::model::Cell;
use jobdoctor::preset::{Marker, Piece, Template};

pub struct Scope<'s> {
    /// The value of a column, by alias and name.
    pub column: &'s dyn Fn(&str, &str) -> Cell,
    pub marker: &'s dyn Fn(&Marker) -> Cell,
}

pub fn evaluate(template: &Template, scope: &Scope<'_>) -> Cell {
    let mut tokens = Vec::new();
    for piece in &template.0 {
        match piece {
            // How an operator of an action names its schema on Postgres.
            Piece::Text(text) => tokenize(&text.replace("OPERATOR(pg_catalog.+)", "+"), &mut tokens),
            Piece::Column(column) => tokens.push(Token::Value((scope.column)(&column.alias, &column.name))),
            Piece::Literal(cell) => tokens.push(Token::Value(cell.clone())),
            Piece::Marker(marker) => tokens.push(Token::Value((scope.marker)(marker))),
            Piece::Name(_) | Piece::Fragment(_) => panic!("the memory store knows no tables in expressions: {piece:?}"),
        }
    }
    let mut parser = Parser { tokens, at: 0, scope };
    let value = parser.comparison();
    assert!(parser.peek().is_none(), "cannot evaluate {template:?}");
    value
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Value(Cell),
    Word(String),
    Sign(char),
}

fn tokenize(text: &str, tokens: &mut Vec<Token>) {
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first == '\'' {
            let end = rest[1..].find('\'').unwrap() + 2;
            tokens.push(Token::Value(Cell::Text(rest[1..end - 1].to_owned())));
            end
        } else if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            tokens.push(Token::Value(Cell::Integer(rest[..end].parse().unwrap())));
            end
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..end].to_owned()));
            end
        } else {
            tokens.push(Token::Sign(first));
            first.len_utf8()
        };
        rest = rest[length..].trim_start();
    }
}

struct Parser<'s> {
    tokens: Vec<Token>,
    at: usize,
    scope: &'s Scope<'s>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Token {
        self.at += 1;
        self.tokens[self.at - 1].clone()
    }

    fn sign(&mut self, sign: char) -> bool {
        let is = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(is);
        is
    }

    fn word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Word(next)) if next.eq_ignore_ascii_case(word));
        self.at += usize::from(is);
        is
    }

    fn comparison(&mut self) -> Cell {
        let left = self.sum();
        if self.sign('=') {
            let right = self.sum();
            return if left.is_null() || right.is_null() { Cell::Null } else { truth(left == right) };
        }
        if self.word("is") {
            let not = self.word("not");
            assert!(self.word("null"));
            return truth(left.is_null() != not);
        }
        left
    }

    fn sum(&mut self) -> Cell {
        let mut value = self.cast();
        while self.sign('+') {
            value = match (value, self.cast()) {
                (Cell::Integer(a), Cell::Integer(b)) => Cell::Integer(a.checked_add(b).unwrap()),
                (Cell::Null, _) | (_, Cell::Null) => Cell::Null,
                (a, b) => panic!("cannot add {a:?} and {b:?}"),
            };
        }
        value
    }

    /// A value, as text if `::text` says so.
    fn cast(&mut self) -> Cell {
        let value = self.one();
        if !self.sign(':') {
            return value;
        }
        assert!(self.sign(':') && self.word("text"));
        value.to_text().map_or(Cell::Null, Cell::Text)
    }

    fn one(&mut self) -> Cell {
        if self.sign('(') {
            let value = self.comparison();
            assert!(self.sign(')'));
            return value;
        }
        if self.sign('-') {
            let Cell::Integer(number) = self.one() else { panic!("a sign before no number") };
            return Cell::Integer(-number);
        }
        match self.next() {
            Token::Value(cell) => cell,
            Token::Word(word) if self.sign('(') => self.call(&word.to_lowercase()),
            Token::Word(word) => match (word.to_lowercase().as_str(), word.split_once('.')) {
                ("null", _) => Cell::Null,
                ("true", _) => truth(true),
                ("false", _) => truth(false),
                (_, Some((alias, name))) => (self.scope.column)(alias, name),
                (other, None) => panic!("cannot evaluate the word {other}"),
            },
            Token::Sign(sign) => panic!("cannot evaluate {sign}"),
        }
    }

    fn call(&mut self, name: &str) -> Cell {
        let mut arguments = vec![self.comparison()];
        while self.sign(',') {
            arguments.push(self.comparison());
        }
        assert!(self.sign(')'));
        match (name.trim_start_matches("pg_catalog."), arguments.as_slice()) {
            ("coalesce", all) => all.iter().find(|cell| !cell.is_null()).cloned().unwrap_or(Cell::Null),
            ("split_part", [Cell::Null, ..]) => Cell::Null,
            ("split_part", [Cell::Text(text), Cell::Text(at), Cell::Integer(1)]) => {
                Cell::Text(text.split(at.as_str()).next().unwrap_or_default().to_owned())
            }
            _ => panic!("cannot evaluate {name}({arguments:?})"),
        }
    }
}

fn truth(truth: bool) -> Cell {
    Cell::Integer(i64::from(truth))
}
