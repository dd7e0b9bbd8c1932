//! In which orders sessions can take their steps.

/// Orders of sessions with so many steps each, as the numbers of the sessions: all of them, or so many that lie evenly among
/// all.
pub(super) fn some(lengths: &[usize], at_most: usize) -> Vec<Vec<usize>> {
    let mut orders = Vec::new();
    extend(&mut lengths.to_vec(), &mut Vec::new(), &mut orders);
    let all = orders.len();
    if all <= at_most {
        return orders;
    }
    (0..at_most).map(|n| orders[n * (all - 1) / (at_most - 1)].clone()).collect()
}

fn extend(left: &mut [usize], order: &mut Vec<usize>, orders: &mut Vec<Vec<usize>>) {
    if left.iter().all(|left| *left == 0) {
        orders.push(order.clone());
        return;
    }
    for session in 0..left.len() {
        if left[session] > 0 {
            left[session] -= 1;
            order.push(session);
            extend(left, order, orders);
            order.pop();
            left[session] += 1;
        }
    }
}

#[test]
fn each_order_comes_once() {
    let all = some(&[3, 3], usize::MAX);
    assert_eq!(all.len(), 20);
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 20);
    assert_eq!(some(&[3, 3, 3], usize::MAX).len(), 1680);
    let some = some(&[3, 3, 3], 36);
    assert_eq!((some.len(), &some[0][..3], &some[35][..3]), (36, &[0, 0, 0][..], &[2, 2, 2][..]));
}
