//! An expression of `&` and `|` to any depth, and its disjunctive normal form: an OR of ANDs.
//!
//! Sizes are computed before anything is expanded.

use std::fmt;

/// Groups an expression may become.
pub const MAX_GROUPS: u64 = 1_000;
/// Values of an expanded expression whose groups share conditions.
const MAX_REPEATED: u64 = 1_000_000;

/// Conditions joined by AND and OR.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree<T> {
    /// One condition.
    Leaf(T),
    /// True when all parts are.
    All(Vec<Tree<T>>),
    /// True when at least one part is.
    Any(Vec<Tree<T>>),
}

impl<T> Tree<T> {
    /// The groups of the OR of ANDs, as indexes of the leaves in reading order.
    ///
    /// # Errors
    /// A message, when the result would be too large; `weight` is the number of values of a leaf.
    pub fn groups(&self, weight: &impl Fn(&T) -> usize) -> Result<Vec<Vec<usize>>, String> {
        let (groups, values) = self.size(weight);
        if groups > MAX_GROUPS {
            return Err(format!(
                "becomes {} groups of conditions, more than {MAX_GROUPS}: put several values of one column into one \
                 .matches([...]), or send several requests",
                if groups == u64::MAX { "countless".to_owned() } else { groups.to_string() }
            ));
        }
        if values > MAX_REPEATED && groups > 1 {
            return Err(format!(
                "has {values} values once its groups are expanded, more than {MAX_REPEATED}: send several requests"
            ));
        }
        Ok(self.expand(&mut 0))
    }

    /// The leaves in reading order.
    pub fn into_leaves(self) -> Vec<T> {
        match self {
            Self::Leaf(leaf) => vec![leaf],
            Self::All(parts) | Self::Any(parts) => parts.into_iter().flat_map(Self::into_leaves).collect(),
        }
    }

    /// The number of groups, and of the values in all of them; both saturate rather than wrap.
    fn size(&self, weight: &impl Fn(&T) -> usize) -> (u64, u64) {
        match self {
            Self::Leaf(leaf) => (1, weight(leaf) as u64),
            Self::All(parts) => parts.iter().fold((1, 0), |(groups, values), part| {
                let (others, more) = part.size(weight);
                let values = values.saturating_mul(others).saturating_add(groups.saturating_mul(more));
                (groups.saturating_mul(others), values)
            }),
            Self::Any(parts) => parts.iter().fold((0, 0), |(groups, values), part| {
                let (others, more) = part.size(weight);
                (groups.saturating_add(others), values.saturating_add(more))
            }),
        }
    }

    fn expand(&self, next_leaf: &mut usize) -> Vec<Vec<usize>> {
        match self {
            Self::Leaf(_) => {
                *next_leaf += 1;
                vec![vec![*next_leaf - 1]]
            }
            Self::All(parts) => parts.iter().fold(vec![Vec::new()], |groups, part| {
                let others = part.expand(next_leaf);
                // So many are allowed only where a part of this tree or of a larger one has none.
                if (groups.len() * others.len()) as u64 > MAX_GROUPS {
                    return Vec::new();
                }
                groups.iter().flat_map(|group| others.iter().map(|other| [group.as_slice(), other].concat())).collect()
            }),
            Self::Any(parts) => parts.iter().flat_map(|part| part.expand(next_leaf)).collect(),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Tree<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, joint) = match self {
            Self::Leaf(leaf) => return leaf.fmt(formatter),
            Self::All(parts) => (parts, " & "),
            Self::Any(parts) => (parts, " | "),
        };
        join(formatter, parts, joint, |formatter, part| match part {
            Self::Leaf(leaf) => leaf.fmt(formatter),
            joined => write!(formatter, "({joined})"),
        })
    }
}

/// Writes parts with something between them.
pub(super) fn join<T>(
    formatter: &mut fmt::Formatter<'_>,
    parts: &[T],
    joint: &str,
    write: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        formatter.write_str(if index == 0 { "" } else { joint })?;
        write(formatter, part)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_of(leaves: usize) -> Tree<usize> {
        Tree::Any((0..leaves).map(Tree::Leaf).collect())
    }

    /// The groups when each leaf holds one value.
    fn groups(tree: &Tree<usize>) -> Result<Vec<Vec<usize>>, String> {
        tree.groups(&|_| 1)
    }

    #[test]
    fn a_product_is_expanded_in_reading_order() {
        let tree = Tree::All(vec![any_of(2), Tree::Leaf(7), any_of(2)]);
        assert_eq!(groups(&tree), Ok(vec![vec![0, 2, 3], vec![0, 2, 4], vec![1, 2, 3], vec![1, 2, 4]]));
        assert_eq!(tree.into_leaves(), [0, 1, 7, 0, 1]);
    }

    #[test]
    fn at_most_a_thousand_groups_are_allowed() {
        assert_eq!(groups(&any_of(1_000)).map(|groups| groups.len()), Ok(1_000));
        assert!(groups(&any_of(1_001)).unwrap_err().contains("1001"));
    }

    #[test]
    fn a_huge_product_is_refused_before_it_is_expanded() {
        let huge = Tree::All((0..10_000).map(|_| any_of(10)).collect());
        assert!(groups(&huge).unwrap_err().contains("countless"));
    }

    #[test]
    fn a_product_that_is_never_true_is_not_expanded() {
        let never = Tree::All((0..20).map(|_| any_of(10)).chain([any_of(0)]).collect());
        assert_eq!(groups(&Tree::Any(vec![never, Tree::Leaf(1)])), Ok(vec![vec![200]]));
    }

    #[test]
    fn many_values_may_be_sent_once_but_repeated_only_up_to_a_limit() {
        let heavy = |_: &usize| 400_000;
        assert!(Tree::All(vec![Tree::Leaf(1), Tree::Leaf(2), Tree::Leaf(3)]).groups(&heavy).is_ok());
        let repeated = Tree::All(vec![any_of(2), Tree::Leaf(1)]);
        assert_eq!(repeated.groups(&|_| 250_000).map(|groups| groups.len()), Ok(2), "exactly the limit");
        let message = repeated.groups(&heavy).unwrap_err();
        assert!(message.contains("1600000"), "{message}");
    }

    /// Trees whose leaves are numbered by the value they hold.
    fn trees() -> impl Strategy<Value = Tree<usize>> {
        (0..6_usize).prop_map(Tree::Leaf).prop_recursive(5, 24, 4, |part| {
            prop_oneof![
                prop::collection::vec(part.clone(), 0..4).prop_map(Tree::All),
                prop::collection::vec(part, 0..4).prop_map(Tree::Any),
            ]
        })
    }

    /// Evaluates the tree itself: the oracle.
    fn holds(tree: &Tree<usize>, facts: &[bool]) -> bool {
        match tree {
            Tree::Leaf(leaf) => facts[*leaf],
            Tree::All(parts) => parts.iter().all(|part| holds(part, facts)),
            Tree::Any(parts) => parts.iter().any(|part| holds(part, facts)),
        }
    }

    proptest! {
        #[test]
        fn the_groups_hold_for_exactly_the_same_facts(tree in trees()) {
            if let Ok(groups) = groups(&tree) {
                let leaves = tree.clone().into_leaves();
                for bits in 0..64_u32 {
                    let facts: Vec<bool> = (0..6).map(|bit| bits & (1 << bit) != 0).collect();
                    let some_group = groups.iter().any(|group| group.iter().all(|leaf| facts[leaves[*leaf]]));
                    prop_assert_eq!(some_group, holds(&tree, &facts));
                }
            }
        }

        #[test]
        fn computed_sizes_are_those_of_the_groups(tree in trees()) {
            if let Ok(groups) = groups(&tree) {
                let values = groups.iter().map(Vec::len).sum::<usize>();
                prop_assert_eq!(tree.size(&|_| 1), (groups.len() as u64, values as u64));
            }
        }
    }
}
